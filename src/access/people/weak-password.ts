/** Passwords that are tried first: well-known words and walks over the keyboard, also dressed up, and one's own name. */
import { AppError } from '../../runtime/errors.ts';

export interface PasswordOwner {
  name: string;
  email: string;
}

/** Parts that well-known passwords of twelve characters and more are put together from. */
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

/** So many different characters at least; fewer are a pattern. */
const fewestCharacters = 6;
/** So many letters that belong to nothing well-known. */
const fewestLetters = 4;

/** Throws invalid_request, which says what to do instead. */
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
  // The longest first, or a short one would tear a long one apart.
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

/** Letters that digits and signs often stand for. */
function undressed(text: string): string {
  return [...text].map((character) => disguises[character] ?? character).join('');
}

/** What remains without the parts and without anything but letters: what a guesser has to guess. */
function leftOver(text: string, parts: string[]): string {
  let rest = text;
  for (const part of parts) rest = rest.replaceAll(part, ' ');
  return rest.replaceAll(/[^\p{L}]/gu, '');
}
