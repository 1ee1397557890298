/** The completion script for zsh. */
import type { CompletionPlace, CompletionWord } from './command-table.ts';

export function zshCompletion(places: CompletionPlace[]): string {
  const cases = places.map(({ path, words, options }) => {
    const pattern = path === '' ? '*' : `${quoted(path)}|${quoted(`${path} `)}*`;
    const values = options
      .filter(({ takesValue }) => takesValue)
      .map(({ word, choices }) =>
        choices.length > 0
          ? `${word}) compadd -- ${choices.map(quoted).join(' ')}; return ;;`
          : `${word}) _files; return ;;`,
      );
    const lines = [
      ...(values.length > 0 ? [`case $words[CURRENT-1] in ${values.join(' ')} esac`] : []),
      `found=(${words.map(described).join(' ')})`,
      `options=(${options.map(described).join(' ')})`,
    ];
    return `    ${pattern})\n${lines.map((line) => `      ${line}\n`).join('')}      ;;`;
  });
  return `#compdef holdfast
# Completion of holdfast for zsh: put this file as _holdfast into a directory of $fpath.
_holdfast() {
  local -a found options
  case "\${(j: :)words[2,CURRENT-1]}" in
${cases.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
  elif (( \${#found} )); then
    _describe word found
  else
    _files
  fi
}
if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;
}

const described = ({ word, about }: CompletionWord) =>
  quoted(about === '' ? word : `${word.replaceAll(':', '\\:')}:${about}`);

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
