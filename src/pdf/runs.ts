/** Splits a line into runs of one face and one direction, in visual order from left to right. */
import { directionOf, levelsOf } from './bidi.ts';
import { type Face, openFace } from './faces.ts';
import { leftToRight, rightToLeft } from './shaper.ts';
import { readCharacters } from './world-face.ts';

export interface Run {
  face: Face;
  /** Begins with `rightToLeft` if it runs that way. */
  text: string;
}

/** Latin, Greek, Cyrillic, Armenian, Georgian and their punctuation: one face, left to right, and no lookup needed. */
export const near = /^[\0-\u058f\u10a0-\u10ff\u2010-\u2027\u2030-\u22ff]*$/u;
export const fromRight = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;
const emoji = /^\p{RGI_Emoji}$/v;
/** A mark that a letter may carry; it has no ink, and fonts have no glyph for it. */
const nonJoiner = /\u200c$/u;

/** By the face of the text. A lookup takes 20 µs, and documents use the same few hundred characters all the time. */
const found = new Map<Face, Map<string, Face | null>>();
const mostFound = 20_000;

/** The face for one character in a text set in `face`; null if no face has it. */
export function faceFor(character: string, face: Face): Face | null {
  const faces = found.get(face) ?? new Map<string, Face | null>();
  found.set(face, faces);
  const known = faces.get(character);
  if (known !== undefined) return known;
  const fitting = findFace(character, face);
  if (faces.size >= mostFound) faces.clear();
  faces.set(character, fitting);
  return fitting;
}

function findFace(character: string, face: Face): Face | null {
  if (near.test(character)) return face.has(character) ? face : null;
  const bold = face.name === 'serifBold' || face.name === 'sansBold';
  const sans = openFace(bold ? 'sansBold' : 'sans');
  const world = openFace(bold ? 'worldBold' : 'world');
  const bare = character.replace(nonJoiner, '');
  // Shaped runs need all of their marks in one face, and only the sans face covers these scripts completely.
  if (fromRight.test(bare)) return sans.has(bare) ? sans : null;
  const order = emoji.test(bare) ? [world, face, sans] : [face, sans, world];
  return order.find((one) => one.has(bare)) ?? null;
}

/** In points. */
export function widthOf(text: string, face: Face, size: number): number {
  if (near.test(text)) return face.width(text, size);
  return setRuns(text, face).reduce((sum, run) => sum + run.face.width(run.text, size), 0);
}

/** A line may begin with a direction mark; otherwise it has the direction of its first letter. */
export function setRuns(line: string, face: Face): Run[] {
  if (near.test(line)) return [{ face, text: line }];
  const marked = line.startsWith(leftToRight) || line.startsWith(rightToLeft);
  const text = marked ? line.slice(1) : line;
  if (!fromRight.test(text)) return runsOfFaces(text, face);
  const base = marked ? (line.startsWith(rightToLeft) ? 'rtl' : 'ltr') : directionOf(text);
  return inOrder(runsOfLevels(text, base)).flatMap((run) => {
    if (run.level % 2 === 0) return runsOfFaces(run.text, face);
    const sans = openFace(face.name === 'serifBold' || face.name === 'sansBold' ? 'sansBold' : 'sans');
    return runsOfFaces(run.text, sans)
      .flatMap(splitScripts)
      .reverse()
      .map(({ face, text }) => ({ face, text: rightToLeft + text }));
  });
}

function runsOfFaces(text: string, face: Face): Run[] {
  const runs: Run[] = [];
  const add = (found: Face, character: string): void => {
    const last = runs.at(-1);
    if (last && last.face === found) {
      last.text += character;
    } else runs.push({ face: found, text: character });
  };
  for (const character of readCharacters(text)) {
    const found = faceFor(character, face);
    if (found) add(found, character);
    else for (const one of character) add(faceFor(one, face) ?? face, one);
  }
  return runs;
}

interface LevelRun {
  level: number;
  text: string;
}

function runsOfLevels(text: string, base: 'ltr' | 'rtl'): LevelRun[] {
  const levels = levelsOf(text, base);
  const runs: LevelRun[] = [];
  let at = 0;
  for (const character of readCharacters(text)) {
    const level = levels[at] ?? 0;
    at += character.length;
    const last = runs.at(-1);
    if (last && last.level === level) last.text += character;
    else runs.push({ level, text: character });
  }
  return runs;
}

/** Rule L2 of https://unicode.org/reports/tr9/, applied to runs instead of characters. */
function inOrder(runs: LevelRun[]): LevelRun[] {
  let ordered = runs;
  const highest = runs.reduce((most, run) => Math.max(most, run.level), 0);
  for (let level = highest; level > 0; level -= 1) {
    const next: LevelRun[] = [];
    const turned: LevelRun[] = [];
    const turn = (): void => {
      for (let run = turned.pop(); run; run = turned.pop()) next.push(run);
    };
    for (const run of ordered) {
      if (run.level >= level) {
        turned.push(run);
        continue;
      }
      turn();
      next.push(run);
    }
    turn();
    ordered = next;
  }
  return ordered;
}

/** A font shapes one script at a time; characters of no script stay with the letters before them. */
function splitScripts({ face, text }: Run): Run[] {
  if (!/\p{Script=Hebrew}/u.test(text) || !/\p{Script=Arabic}/u.test(text)) return [{ face, text }];
  const parts = text.match(/[^\p{Script=Arabic}]+|[^\p{Script=Hebrew}]+/gu) ?? [];
  return parts.map((part) => ({ face, text: part }));
}
