#compdef omni-run
# zsh completion for omni-run: into a folder of $fpath as `_omni-run`,
# or `source <(omni-run completions zsh)` after compinit.
_omni-run() {
    local -a lines items
    local line kind
    lines=("${(@f)$("${(Q)words[1]}" __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    kind=$lines[1]
    shift lines
    case $kind in
        files | dirs)
            [[ $PREFIX == --*=* ]] && compset -P '*='
            if [[ $kind == dirs ]]; then _files -/; else _files; fi
            ;;
        words)
            for line in $lines; do
                items+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
            done
            _describe -V 'omni-run' items
            ;;
    esac
}
if [[ $funcstack[1] == _omni-run ]]; then
    _omni-run "$@"
else
    compdef _omni-run omni-run
fi
