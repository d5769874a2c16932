//! Recipes as text: settings, templates, mistakes.

use super::*;

fn parse(text: &str) -> Result<Recipe, Failure> {
    let file = Path::new("/p/.claude/recipes/r.md");
    Recipe::parse("r", Origin::Project("/p".into()), file, text.as_bytes().to_vec())
}

fn own(text: &str) -> Result<Recipe, Failure> {
    Recipe::parse("r", Origin::Own, Path::new("/c/r.md"), text.as_bytes().to_vec())
}

fn expand(text: &str, values: &[(&str, &str)]) -> Result<String, Failure> {
    let values = values.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    parse(text)?.expand(&values)
}

#[test]
fn a_prompt_without_front_matter_is_a_recipe() {
    let recipe = parse("\n\n# Say {{ what }}\nnow\n\n").expect("recipe");
    assert_eq!(recipe.template.source(), "# Say {{ what }}\nnow");
    assert_eq!(recipe.description(), "Say {{ what }}");
    assert_eq!(
        expand("Say {{what}} and {{ what }}\n", &[("what", "tea")]).expect("text"),
        "Say tea and tea"
    );
}

#[test]
fn settings_are_read_from_both_fences_with_crlf_and_a_byte_order_mark() {
    let toml = "description = 'D'\nengine = 'e'\nmodel = 'm'\ntimeout = '10m'\nretries = 2\n\
                output = 'stream-json'\nno-overlap = true\nattachments = ['a.png']\n\
                [parameters]\nlang = 'en'\ntopic = { description = 'what' }\n";
    for fence in ["+++", "---"] {
        let text = format!("{fence}\n{toml}{fence}\n\nIn {{{{lang}}}}: {{{{topic}}}}\n");
        let plain = parse(&text).expect("recipe");
        let windows = parse(&format!("\u{feff}{}", text.replace('\n', "\r\n"))).expect("recipe");
        for recipe in [plain, windows] {
            let settings = &recipe.settings;
            assert_eq!(settings.engine.as_deref(), Some("e"));
            assert_eq!(settings.timeout, Some(std::time::Duration::from_secs(600)));
            assert_eq!(settings.retries, Some(2));
            assert_eq!(settings.output, Some(crate::cli::Output::StreamJson));
            assert_eq!(settings.no_overlap, front_matter::Overlap::OfThisRecipe);
            assert_eq!(recipe.template.source(), "In {{lang}}: {{topic}}");
            let parameters = recipe.parameters();
            assert_eq!(parameters[0].default.as_deref(), Some("en"));
            assert_eq!(parameters[1].description.as_deref(), Some("what"));
        }
    }
}

#[test]
fn mistakes_name_file_line_and_key() {
    for (text, place, says) in [
        ("+++\nengine = 'e'\nenigne = 'x'\n+++\nhi", "r.md:3", "unknown field `enigne`"),
        ("+++\ntimeout = 5\n+++\nhi", "r.md:2", "`timeout`"),
        ("+++\n\ntimeout = '5 weeks'\n+++\nhi", "r.md:3", "`timeout`: write it as"),
        ("+++\nretries = -1\n+++\nhi", "r.md:2", "`retries`"),
        ("+++\noutput = 'yaml'\n+++\nhi", "r.md:2", "`yaml`"),
        ("+++\nattachments = [\n  'a',\n  5,\n]\n+++\nhi", "r.md:4", "`attachments`"),
        ("+++\n[parameters]\nx = { defualt = 'a' }\n+++\nhi", "r.md:3", "`defualt`"),
        ("+++\n[parameters]\nx = 5\n+++\nhi", "r.md:3", "`x`"),
        ("+++\n[parameters]\n'a b' = 'x'\n+++\nhi", "r.md:3", "`a b`"),
        ("+++\nengine = 'e'\n", "r.md:1", "no line `+++`"),
        ("+++\nmodel = '--yolo'\n+++\nhi", "r.md:2", "`model`"),
        ("+++\ndescription = 'x'\n\nengine-args = ['--all']\n+++\nhi", "r.md:4", "`engine-args`"),
        ("+++\n+++\n\na\nb {{c d}}\n", "r.md:5", "`{{c d}}`"),
        ("a\n{{x\n}}", "r.md:2", "without `}}`"),
        ("+++\n+++\n  \n", "r.md", "no prompt"),
    ] {
        let failure = parse(text).expect_err(text);
        assert_eq!(failure.kind, ExitKind::Config, "{text}");
        let message = &failure.message;
        assert!(message.contains(place) && message.contains(says), "{text}: {message}");
    }
    let typo = parse("+++\nenigne = 'x'\n+++\nhi").expect_err("typo");
    assert_eq!(typo.hints[0], "did you mean `engine`?");
    let yaml = parse("---\nengine: other\n---\nhi").expect_err("yaml");
    assert!(yaml.hints.iter().any(|hint| hint.contains("TOML")), "{:?}", yaml.hints);
    let bytes = Recipe::parse("r", Origin::Own, Path::new("r.md"), b"a\xff".to_vec());
    assert!(bytes.expect_err("bytes").message.contains("offset 1"));
}

#[test]
fn only_a_users_own_recipe_has_arguments_for_the_engine() {
    let text = "+++\nengine-args = ['--all']\n+++\nhi";
    assert_eq!(own(text).expect("own").settings.engine_args, ["--all"]);
    assert!(parse(text).is_err());
}

#[test]
fn values_are_text_and_are_put_in_once() {
    let text = "{{a}} {{b}}";
    let values = [("a", "{{b}} $(touch x) `y` \\{{"), ("b", "\n{{a}}")];
    assert_eq!(expand(text, &values).expect("text"), "{{b}} $(touch x) `y` \\{{ \n{{a}}");
}

#[test]
fn a_literal_brace_pair_is_written_with_a_backslash() {
    let with_x = |text: &str| expand(text, &[("x", "1")]).expect(text);
    assert_eq!(with_x(r"\{{x}} {{x}}"), "{{x}} 1");
    assert_eq!(with_x(r"\\{{x}} \\\{{x}}"), r"\1 \{{x}}");
    assert_eq!(with_x("{{{x}}} {\"k\": {{x}}}"), "{1} {\"k\": 1}");
    assert_eq!(with_x(r"a\b }} { \ {{x}}"), r"a\b }} { \ 1");
}

#[test]
fn unknown_and_missing_parameters_are_errors() {
    let text = "+++\n[parameters]\nlang = 'en'\nsince = { description = 'a date' }\n+++\n{{lang}} {{since}}";
    let unknown = expand(text, &[("since", "x"), ("lnag", "de")]).expect_err("unknown");
    assert_eq!(unknown.kind, ExitKind::Usage);
    assert!(unknown.message.contains("`lnag`"), "{unknown}");
    assert_eq!(unknown.hints, ["did you mean `lang`?"]);
    let missing = expand(text, &[]).expect_err("missing");
    assert!(missing.message.contains("`since`") && !missing.message.contains("`lang`"));
    assert!(missing.hints[0].contains("--set since=VALUE") && missing.hints[0].contains("a date"));
    assert_eq!(expand(text, &[("since", "")]).expect("an empty value is one"), "en ");
}

#[test]
fn what_a_prompt_begins_with_stays() {
    for text in ["- [ ] x", "/help", "@file", "!ls", "  indented", "--dangerous"] {
        assert_eq!(expand(&format!("+++\n+++\n\n{text}\n"), &[]).expect(text), text);
    }
}
