/** The completion script for fish. */
import type { CompletionPlace } from './command-table.ts';

export function fishCompletion(places: CompletionPlace[]): string {
  const lines = places.flatMap(({ path, words, options }) => {
    const here = `-n '${['__holdfast_at', path].join(' ').trim()}'`;
    const within = path === '' ? here : `-n '__holdfast_within ${path}'`;
    return [
      ...words.map(({ word, about }) => `complete -c holdfast ${here} -f -a ${word}${told(about)}`),
      ...options.map(({ word, about, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : takesValue ? ' -r' : '';
        return `complete -c holdfast ${within} -l ${word.slice(2)}${value}${told(about)}`;
      }),
    ];
  });
  return `# Completion of holdfast for fish: put this file as holdfast.fish into ~/.config/fish/completions/
function __holdfast_at
    set -l typed (commandline -opc)
    set -e typed[1]
    test "$typed" = "$argv"
end
function __holdfast_within
    set -l typed (commandline -opc)
    set -e typed[1]
    string match -q -- "$argv *" "$typed "
end
${lines.join('\n')}
`;
}

const told = (about: string) => (about === '' ? '' : ` -d '${about.replaceAll(/['\\]/g, '\\$&')}'`);
