/** The completion script for bash. */
import type { CompletionPlace } from './command-table.ts';

export function bashCompletion(places: CompletionPlace[]): string {
  const cases = places.map(({ path, words, options }) => {
    const pattern = path === '' ? '*' : `'${path}'|'${path} '*`;
    const chosen = options.filter(({ choices }) => choices.length > 0);
    const values = chosen.map(({ word, choices }) => `${word}) words='${choices.join(' ')}' ;;`);
    const free = options.filter((one) => one.takesValue && one.choices.length === 0).map(({ word }) => word);
    if (free.length > 0) values.push(`${free.join('|')}) return ;;`);
    const lines = [
      `words='${words.map(({ word }) => word).join(' ')}'`,
      `options='${options.map(({ word }) => word).join(' ')}'`,
      ...(values.length > 0 ? [`case $previous in ${values.join(' ')} esac`] : []),
    ];
    return `    ${pattern})\n${lines.map((line) => `      ${line}\n`).join('')}      ;;`;
  });
  return `# Completion of holdfast for bash: source this file, or put it into /usr/share/bash-completion/completions/holdfast
_holdfast() {
  local IFS=' ' words='' options='' current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then words=$options; fi
  IFS=$' \\n'
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _holdfast holdfast
`;
}
