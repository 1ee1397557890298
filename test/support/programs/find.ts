/** Whether an optional program is here, and whether this run requires it. */
import { type ProgramName, programNames, programs } from './table.ts';

const found = new Map<ProgramName, string | null>();

/** test/bare.sh shows none of them, wherever they are. */
const isBare = process.env.HOLDFAST_TEST_BARE === '1';

export function findProgram(name: ProgramName): string | null {
  if (isBare) return null;
  const known = found.get(name);
  if (known !== undefined) return known;
  const place = programs[name].find();
  found.set(name, place);
  return place;
}

/** What to install, as a reason for a test that does not run. */
export function describeNeed(name: ProgramName): string {
  const { debian, notInAll } = programs[name];
  return `needs ${name} (${debian.length > 0 ? `Debian: ${debian.join(' ')}` : notInAll || 'npm ci installs it'})`;
}

/** What `--require` asks for: names, or `all` that can be had on this platform. */
export function requiredPrograms(text: string): { names: Set<ProgramName>; unknown: string[] } {
  const given = text.split(',').map((name) => name.trim());
  const unknown = given.filter((name) => name !== 'all' && !isProgramName(name));
  const names = given.flatMap((name) => (name === 'all' ? allHere() : isProgramName(name) ? [name] : []));
  return { names: new Set(names), unknown };
}

function allHere(): ProgramName[] {
  return process.platform === 'linux' ? programNames.filter((name) => !programs[name].notInAll) : [];
}

function isProgramName(name: string): name is ProgramName {
  return Object.hasOwn(programs, name);
}
