/** Rejects passwords that are guessed first: common words and keyboard patterns, also disguised, and the owner's name. */
import { AppError } from '../../runtime/errors.ts';

export interface PasswordOwner {
  name: string;
  email: string;
}

/** Parts of common passwords with twelve or more characters. */
const knownParts = [
  ...['password', 'passwort', 'passord', 'parola', 'contrasena', 'motdepasse', 'passwd', 'pass', 'secret'],
  ...['letmein', 'welcome', 'changeme', 'iloveyou', 'trustno', 'opensesame', 'default', 'temporary', 'temp'],
  ...[
    'admin',
    'administrator',
    'root',
    'user',
    'guest',
    'test',
    'demo',
    'login',
    'master',
    'access',
    'system',
  ],
  ...['holdfast', 'company', 'office', 'internet', 'computer', 'network', 'server', 'database', 'dashboard'],
  ...['qwertyuiop', 'qwertzuiop', 'azertyuiop', 'qwerty', 'qwertz', 'azerty', 'asdfghjkl', 'asdf', 'zxcvbnm'],
  ...[
    'yxcvbnm',
    'qazwsxedc',
    'qazwsx',
    'qaz',
    'wsx',
    'edc',
    'qwe',
    'asd',
    'zxc',
    'abcdefghijklmnopqrstuvwxyz',
  ],
  ...[
    'abcdefgh',
    'abcd',
    'abc',
    'monkey',
    'dragon',
    'football',
    'baseball',
    'basketball',
    'princess',
    'sunshine',
  ],
  ...['superman', 'batman', 'starwars', 'pokemon', 'michael', 'jordan', 'liverpool', 'chelsea', 'arsenal'],
  ...['hello', 'world', 'love', 'you', 'my', 'the', 'is', 'for', 'me', 'this', 'super', 'ninja', 'shadow'],
  ...['spring', 'summer', 'autumn', 'fall', 'winter', 'january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december', 'monday', 'friday', 'sunday'],
];

/** At least this many different characters; fewer are a pattern. */
const fewestCharacters = 6;
/** At least this many letters that are not part of a common word. */
const fewestLetters = 4;
/** A part of the own name or email with this many characters must not be in the password at all. */
const tellingPart = 4;

/** Throws invalid_request with advice. */
export function refuseWeakPassword(password: string, owner: PasswordOwner): void {
  if (!isWeak(password, owner)) return;
  throw new AppError(
    'invalid_request',
    'password is too easy to guess: it consists of common words, digits, a pattern or your name. Use several unrelated words.',
  );
}

export function isWeak(password: string, { name, email }: PasswordOwner): boolean {
  const text = password.normalize('NFKC').toLowerCase();
  if (new Set(text).size < fewestCharacters) return true;
  const own = [email, ...email.split(/[@.]/), ...name.split(/\s+/)]
    .map((part) => part.toLowerCase())
    .filter((part) => part.length >= 3);
  const [localPart = ''] = email.split('@');
  const telling = [...localPart.split('.'), ...name.split(/\s+/)].map((part) => part.toLowerCase());
  if (telling.some((part) => part.length >= tellingPart && text.includes(part))) return true;
  // Longest first, or a short part would split a long one.
  const parts = [...own, ...knownParts].sort((one, other) => other.length - one.length);
  return [text, undressed(text)].some((text) => leftOver(text, parts).length < fewestLetters);
}

const disguises: Record<string, string> = {
  0: 'o',
  1: 'l',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Replaces digits and signs by the letters they often stand for. */
function undressed(text: string): string {
  return [...text].map((character) => disguises[character] ?? character).join('');
}

/** The letters that remain without the common parts: what an attacker would have to guess. */
function leftOver(text: string, parts: string[]): string {
  let rest = text;
  for (const part of parts) rest = rest.replaceAll(part, ' ');
  return rest.replaceAll(/[^\p{L}]/gu, '');
}
