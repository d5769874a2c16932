# bash completion for omni-run: `source <(omni-run completions bash)`
_omni_run() {
    local i n word kind='' value prefix='' special=0
    local -a words=()
    # bash takes `--option=value` apart at the `=`; here it is one word again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        [[ $i -eq $COMP_CWORD && $word != '=' ]] && word=$2
        n=${#words[@]}
        if ((n > 0)) && [[ ${words[n - 1]} == --* ]] &&
            { [[ $word == '=' && ${words[n - 1]} != *=* ]] ||
                [[ ${words[n - 1]} == *= && ${COMP_WORDS[i - 1]} == '=' ]]; }; then
            words[n - 1]+=$word
        else
            words+=("$word")
        fi
    done
    n=${#words[@]}
    ((n > 0)) && [[ ${words[n - 1]} == --*=* ]] && prefix=${words[n - 1]%%=*}=
    COMPREPLY=()
    while IFS=$'\t' read -r value _; do
        if [[ -z $kind ]]; then
            kind=$value
            continue
        fi
        value=${value#"$prefix"}
        [[ $value == *[!A-Za-z0-9_./:@=+,-]* ]] && special=1
        COMPREPLY+=("$value")
    done < <("${1/#\~/$HOME}" __complete -- "${words[@]}" 2>/dev/null)
    case $kind in
        # An empty answer makes readline complete file names itself.
        files | '') COMPREPLY=() ;;
        dirs) compopt -o nospace -o plusdirs 2>/dev/null ;;
        *)
            compopt +o default 2>/dev/null
            # With this readline quotes what needs it.
            ((special)) && compopt -o filenames 2>/dev/null
            ;;
    esac
    return 0
}
complete -o default -F _omni_run omni-run
