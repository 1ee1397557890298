/** Reads a passphrase: from a file, or typed at the terminal without echo. */
import { readFile } from 'node:fs/promises';
import { OperatorError } from '../runtime/errors.ts';

export interface PassphraseOptions {
  /** The value of --passphrase-file. */
  file: string | undefined;
  /** What the passphrase is for, as shown in the prompt. */
  what: string;
  /** For a new passphrase: typed twice, because nobody sees what is typed. */
  twice?: boolean;
}

export async function readPassphrase({ file, what, twice = false }: PassphraseOptions): Promise<string> {
  if (file !== undefined)
    return requireSome(await readFirstLine(file), `The passphrase file ${file} is empty`);
  if (!process.stdin.isTTY) {
    throw new OperatorError(`There is no terminal to ask for ${what}: give --passphrase-file FILE.`);
  }
  const passphrase = requireSome(await askHidden(`${capital(what)}: `), 'The passphrase is empty');
  if (twice && (await askHidden('Repeat it: ')) !== passphrase) {
    throw new OperatorError('The passphrases do not match. Nothing was done.');
  }
  return passphrase;
}

/** Without the line break that editors add at the end. */
async function readFirstLine(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause) => {
    throw new OperatorError(`The passphrase file ${file} cannot be read: ${cause.message}.`, { cause });
  });
  const [line = '', ...rest] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (rest.length > 0) throw new OperatorError(`The passphrase file ${file} has more than one line.`);
  return line;
}

function requireSome(passphrase: string, what: string): string {
  if (passphrase.trim() === '')
    throw new OperatorError(`${what}: anyone with the key file would have the key.`);
  return passphrase;
}

/** Typed at the terminal without echo. */
export async function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  stdin.resume();
  try {
    let typed = '';
    for await (const text of stdin.iterator({ destroyOnReturn: false })) {
      for (const character of text as string) {
        if (character === '\r' || character === '\n' || character === '\u0004') return typed;
        if (character === '\u0003') throw new OperatorError('Stopped. Nothing was done.');
        if (character === '\u007f' || character === '\b') typed = typed.slice(0, -1);
        else typed += character;
      }
    }
    return typed;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
