/**
 * What an endpoint can subscribe to: a type, all types with a prefix (`record.*`), or all (`*`). A pattern also stands for
 * types that later versions add. Uses nothing of Node.js.
 */
import { type EventType, eventTypes } from './catalogue.ts';

const prefixes = [...new Set(eventTypes.flatMap(prefixesOf))];

/** Every pattern that stands for a type of the catalogue, and the types themselves. */
export const typePatterns: string[] = [...eventTypes, ...prefixes.map((prefix) => `${prefix}.*`), '*'];

/** The types of the catalogue that any of the patterns stands for, in its order. */
export function typesOf(patterns: readonly string[]): EventType[] {
  return eventTypes.filter((type) => subscribesTo(patterns, type));
}

/** Also for types that only a later version knows. */
export function subscribesTo(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => standsFor(pattern, type));
}

function standsFor(pattern: string, type: string): boolean {
  return (
    pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))
  );
}

/** Whole words only: `record.*`, never `rec*`. */
function prefixesOf(type: string): string[] {
  const words = type.split('.');
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join('.'));
}
