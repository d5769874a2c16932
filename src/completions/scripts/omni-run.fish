# fish completion for omni-run: `omni-run completions fish | source`, or into
# ~/.config/fish/completions/omni-run.fish
function __omni_run_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..-1] $current 2>/dev/null)
    set -l prefix (string match -r -- '^--[^=]+=' $current)
    # An empty list would take the paths with it.
    set -q prefix[1]; or set prefix ''
    set -l path (string replace -r -- '^--[^=]+=' '' $current)
    switch "$lines[1]"
        case files
            for found in (__fish_complete_path $path)
                echo $prefix$found
            end
        case dirs
            for found in (__fish_complete_directories $path)
                echo $prefix$found
            end
        case '*'
            string join -- \n $lines[2..-1]
    end
end
complete --command omni-run --no-files --keep-order --arguments '(__omni_run_complete)'
