"""Print a completion script for your shell: commands, options, and names of what there is.

examples:
  gnomon completion bash > ~/.local/share/bash-completion/completions/gnomon
  gnomon completion zsh  > ~/.zfunc/_gnomon
  gnomon completion fish > ~/.config/fish/completions/gnomon.fish

Commands and options stand in the script; benchmarks, models, measures, prompts and runs are looked
up as you type. Make the script again after an update.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator

from gnomon.cli.parser import CommandParser

BASH = """\
# bash completion for gnomon
_gnomon() {
    local line="${COMP_LINE:0:COMP_POINT}" options="" current start name
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current="${words[${#words[@]} - 1]}"
    COMPREPLY=()
    if (( ${#words[@]} <= 2 )); then
        COMPREPLY=($(compgen -W "@COMMANDS@" -- "$current"))
        return
    fi
    if [[ $current == -* && $current != *=* ]]; then
        case "${words[1]}" in
@CASES@
        esac
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return
    fi
    # What bash takes for the end of a word stays: the names are completed after it.
    start="${current%"${current##*[:=@]}"}"
    while IFS=$'\\t' read -r name _; do
        COMPREPLY+=("${name#"$start"}")
    done < <("${words[0]}" _complete "${words[@]:1}" 2> /dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:/] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o default -F _gnomon gnomon
"""
ZSH = """\
#compdef gnomon
_gnomon() {
    local options="" line name text
    local -a asked open closed
    if (( CURRENT == 2 )); then
        compadd -- @COMMANDS@
        return
    fi
    if [[ $PREFIX == -* && $PREFIX != *=* ]]; then
        case $words[2] in
@CASES@
        esac
        compadd -- ${=options}
        return
    fi
    asked=($words[1] _complete "${(@)words[2,CURRENT-1]}" "$PREFIX")
    for line in "${(@f)$("${(@)asked}" 2> /dev/null)}"; do
        name="${line%%$'\\t'*}"
        text="${line#*$'\\t'}"
        if [[ -z $name ]]; then
            continue
        elif [[ $name == *[:/] ]]; then
            open+=("$name")
        else
            closed+=("${name//:/\\\\:}:$text")
        fi
    done
    if (( $#open + $#closed == 0 )); then
        _files
        return
    fi
    compadd -S '' -a open
    _describe -t names 'names' closed
}
if [ "$funcstack[1]" = "_gnomon" ]; then
    _gnomon "$@"
else
    compdef _gnomon gnomon
fi
"""
FISH = """\
# fish completion for gnomon
function __gnomon_names
    set -l words (commandline -opc)
    set -l found ($words[1] _complete $words[2..] (commandline -ct) 2> /dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
function __gnomon_is
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]
end
complete -c gnomon -f
complete -c gnomon -n '__fish_is_nth_token 1' -a '@COMMANDS@'
complete -c gnomon -n 'not __fish_is_nth_token 1' -a '(__gnomon_names)'
@LINES@
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def main(args: Namespace) -> int:
    """Print the script, with the commands and options of all parsers."""
    script = {"bash": BASH, "zsh": ZSH, "fish": FISH}[args.shell]
    parsers = dict(_parsers())
    script = script.replace("@COMMANDS@", " ".join(parsers))
    script = script.replace("@CASES@", "\n".join(_cases(parsers)))
    print(script.replace("@LINES@", "\n".join(_fish_lines(parsers))), end="")
    return 0


def _parsers() -> Iterator[tuple[str, CommandParser]]:
    from gnomon.cli import COMMANDS, command_module, command_parser

    for name in COMMANDS:
        yield name, command_parser(name, command_module(name))


def _cases(parsers: dict[str, CommandParser]) -> Iterator[str]:
    """The options of each command, as a case of the shell."""
    for name, parser in parsers.items():
        options = [word for action in _actions(parser) for word in action.option_strings]
        shown = [word for word in dict.fromkeys(options) if word.startswith("--")]
        yield f'            {name}) options="{" ".join(shown)}" ;;'


def _fish_lines(parsers: dict[str, CommandParser]) -> Iterator[str]:
    """A line for each option of each command, with what it does."""
    for name, parser in parsers.items():
        for action in _actions(parser):
            text = " ".join((action.help or "").split()).replace("\\", "").replace("'", "\\'")
            words = [f"complete -c gnomon -n '__gnomon_is {name}'"]
            for option in action.option_strings:
                dashes = "-l" if option.startswith("--") else "-s"
                words.append(f"{dashes} {option.lstrip('-')}")
            if action.nargs != 0:
                words.append("-r -f -a '(__gnomon_names)'")
            yield " ".join([*words, f"-d '{text}'"])


def _actions(parser: CommandParser) -> Iterator[Action]:
    """The options of a command that help shows, with those of commands of its own."""
    for each in (parser, *parser.commands.values()):
        for action in each._actions:
            if action.option_strings and action.help != "==SUPPRESS==":
                yield action


def whole_parser() -> ArgumentParser:
    """One parser of all commands, for the docs, where speed does not matter."""
    from gnomon.cli import COMMANDS, command_module

    parser = CommandParser(prog="gnomon")
    commands = parser.add_subparsers(dest="command")
    for name, line in COMMANDS.items():
        module = command_module(name)
        sub = commands.add_parser(name, help=line, description=module.__doc__)
        module.arguments(sub)
        sub.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser
