/** The definition of a setting: its name, default and description, and how its text becomes a value of the Config. */
import { existsSync } from 'node:fs';

/** `.env.example` and the tables in docs are generated from these; texts are Markdown. */
export interface Setting {
  name: string;
  /** The value if nothing is set: literally, or in words. */
  default: string | InWords;
  /** What it does, in full sentences. */
  about: string;
  /** A Markdown link to more about it, relative to docs/operations.md. */
  see?: string;
}

export interface InWords {
  words: string;
}

/** Turns the text of one setting into its value. */
export interface Parser<T> {
  /** undefined: the text is invalid. */
  parse(text: string, given: Given): T | undefined;
  /** What to give instead; for a secret, its required form. */
  expected: string;
  /** May contain a password: messages do not repeat it. */
  secret?: true;
}

/** Access to the given settings. */
export interface Given {
  /** Trimmed; null when it is not set or empty. */
  text(name: string): string | null;
  /** Records that the value of a setting is invalid, and what to give instead. */
  fault(name: string, expected: string): void;
  /** Records a fault as a complete sentence, which must not repeat the value. */
  refuse(sentence: string): void;
}

/** One value of the Config, from one setting or several related ones. */
export interface Field<T> {
  settings: Setting[];
  /** If it records a fault, its result is not used. */
  read(given: Given): T;
}

/** The part of the Config that these fields produce. */
export type Values<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends Field<infer T> ? T : never;
};

/** A setting whose default is parsed like a given value. */
export function setting<T>(options: Setting & { default: string } & Parser<T>): Field<T> {
  return {
    settings: [options],
    read: (given) => parseGiven(options, given.text(options.name) ?? options.default, given),
  };
}

/** An optional setting: null if not given, or the result of `unset`. */
export function optional<T, U = null>(
  options: Setting & { default: InWords } & Parser<T>,
  unset: (given: Given) => U = () => null as U,
): Field<T | U> {
  return {
    settings: [options],
    read(given) {
      const text = given.text(options.name);
      return text === null ? unset(given) : parseGiven(options, text, given);
    },
  };
}

function parseGiven<T>(
  { name, parse, expected, secret }: { name: string } & Parser<T>,
  text: string,
  given: Given,
): T {
  const value = parse(text, given);
  if (value === undefined && secret) given.refuse(`${name} is not of the form ${expected}.`);
  else if (value === undefined) given.fault(name, expected);
  return value as T;
}

export function readFields<Fields extends Record<string, Field<unknown>>>(
  fields: Fields,
  given: Given,
): Values<Fields> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.read(given)]),
  ) as Values<Fields>;
}

export const anyText: Parser<string> = { parse: (text) => text, expected: 'give any text' };

export const existingFile: Parser<string> = {
  parse: (file) => (existsSync(file) ? file : undefined),
  expected: 'there is no such file',
};

export function countTo(most: number): Parser<number> {
  return {
    parse(text) {
      const count = /^\d{1,13}$/.test(text) ? Number(text) : 0;
      return count < 1 || count > most ? undefined : count;
    },
    expected: `give a number from 1 to ${most}`,
  };
}

/** The entries of a comma-separated list. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}
