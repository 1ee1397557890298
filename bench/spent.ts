/** The CPU time that a piece of work took, by process: the same on a busy machine as on one at rest. Linux only. */
import { waitForRest } from './cpu-time.ts';
import { type ProcessTimes, readProcess, readProcesses, readThreadsMs } from './process-times.ts';

export type Part = 'service' | 'postgres' | 'chain' | 'client';

const parts: Part[] = ['service', 'postgres', 'chain', 'client'];

/**
 * The processes of each part. A process that is named nowhere belongs to the nearest one above it that is. `nobody`: what
 * works for the benchmark itself, such as a backend that it asks through; it must not end meanwhile.
 */
export type Processes = Partial<Record<Part | 'nobody', number[]>>;

/** Milliseconds. Parts without a process are left out. */
export type ByPart = Partial<Record<Part, number>>;

export interface Spent {
  answering: ByPart;
  /** From the last answer until all processes rest. */
  afterwards: ByPart;
}

/** Microseconds for one operation. */
export interface CpuMicros extends ByPart {
  afterwards: ByPart;
  /** All of it together, by round; without the client, which is not what is measured. */
  rounds: number[];
}

export interface Watch {
  /** What was spent so far; null where there is no /proc. */
  sofar(): Promise<ByPart | null>;
  /** Call it at the last answer when something else comes before the rest. */
  answered(): Promise<void>;
  /** Call it at the last answer: waits until nothing is at work any more. */
  untilRest(): Promise<{ cpu: Spent | null; restMs: number }>;
}

export async function watchProcesses(processes: Processes): Promise<Watch> {
  if (process.platform !== 'linux') {
    return {
      sofar: async () => null,
      answered: async () => {},
      untilRest: async () => ({ cpu: null, restMs: await waitForRest() }),
    };
  }
  const before = await look(processes);
  const sofar = async () => difference(processes, before, await look(processes));
  let answering: ByPart | null = null;
  return {
    sofar,
    async answered() {
      answering = await sofar();
    },
    async untilRest() {
      // What idle processes use while we wait to see whether they are is not part of the work.
      let all = await sofar();
      const answered = answering ?? all;
      const restMs = await waitForRest({
        async stillBusy() {
          all = await sofar();
        },
      });
      const afterwards = eachPart(all, (part, ms) => ms - (answered[part] ?? 0));
      return { cpu: { answering: answered, afterwards }, restMs };
    },
  };
}

/** Since they were started, with all that they started themselves; null where there is no /proc. */
export async function spentSinceStart(processes: Processes): Promise<ByPart | null> {
  if (process.platform !== 'linux') return null;
  return difference(processes, new Map(), await look(processes));
}

/** Over all turns; null when it is not known of each of them. */
export function perOperation(turns: { cpu: Spent | null; operations: number }[]): CpuMicros | null {
  const spent = turns.map(({ cpu }) => cpu).filter((cpu) => cpu !== null);
  const [first] = spent;
  if (!first || spent.length < turns.length) return null;
  const operations = sum(turns.map((turn) => turn.operations));
  const micros = (when: keyof Spent) =>
    eachPart(first[when], (part) => (sum(spent.map((one) => one[when][part] ?? 0)) * 1000) / operations);
  const rounds = spent.map(
    ({ answering, afterwards }, round) =>
      ((served(answering) + served(afterwards)) * 1000) / (turns[round]?.operations ?? Number.NaN),
  );
  return { ...micros('answering'), afterwards: micros('afterwards'), rounds };
}

/** Of all rounds and parts together. */
export function totalMicros(cpu: CpuMicros): number {
  return served(cpu) + served(cpu.afterwards);
}

function served(times: ByPart): number {
  return sum(parts.map((part) => (part === 'client' ? 0 : (times[part] ?? 0))));
}

interface Seen extends ProcessTimes {
  part: Part | 'nobody';
  threadsMs: number | null;
}

type Look = Map<number, Seen>;

async function look(processes: Processes): Promise<Look> {
  const partOf = new Map(
    Object.entries(processes).flatMap(([part, pids]) => pids.map((pid) => [pid, part as Part | 'nobody'])),
  );
  for (let time = 1; ; time += 1) {
    const all = new Map((await readProcesses()).map((one) => [one.pid, one]));
    const seen = [...all.values()].flatMap((one) => {
      const part = nearestPart(one, all, partOf);
      return part === null ? [] : [{ ...one, part }];
    });
    const found = await Promise.all(
      seen.map(
        async (one): Promise<[number, Seen]> => [
          one.pid,
          { ...one, threadsMs: await readThreadsMs(one.pid) },
        ],
      ),
    );
    // Whoever ended between two of these reads might be counted twice, or not at all.
    const after = await Promise.all([...partOf.keys()].map(readProcess));
    if (time >= 5 || after.every((one) => one === null || one.endedMs === all.get(one.pid)?.endedMs)) {
      return new Map(found);
    }
  }
}

function nearestPart(
  start: ProcessTimes,
  all: Map<number, ProcessTimes>,
  partOf: Map<number, Part | 'nobody'>,
): Part | 'nobody' | null {
  for (let one: ProcessTimes | undefined = start; one; one = all.get(one.parent)) {
    const part = partOf.get(one.pid);
    if (part !== undefined) return part;
  }
  return null;
}

function difference(processes: Processes, before: Look, after: Look): ByPart {
  const ended = Object.values(processes)
    .flat()
    .find((pid) => !after.has(pid));
  if (ended !== undefined) throw new Error(`process ${ended} has ended`);
  const ofPart = (part: Part) => {
    const own = [...after.values()].filter((one) => one.part === part);
    const gone = [...before.values()].filter((one) => one.part === part && !after.has(one.pid));
    // What ended is now in the time that its parent has of its children.
    return sum(own.map((one) => growth(before.get(one.pid), one))) - sum(gone.map(wholeMs));
  };
  const named = Object.fromEntries(parts.filter((part) => processes[part]?.length).map((part) => [part, 0]));
  return eachPart(named, (part) => Math.max(0, ofPart(part)));
}

/** Of the times in steps of 10 ms: user and system are cut off by themselves. */
const coarseMs = 20;

function growth(before: Seen | undefined, now: Seen): number {
  if (!before) return wholeMs(now);
  const ended = now.endedMs - before.endedMs;
  const coarse = now.ownMs - before.ownMs;
  if (before.threadsMs === null || now.threadsMs === null) return ended + coarse;
  const fine = now.threadsMs - before.threadsMs;
  // Threads that ended are missing in the one, but not in the other.
  return ended + (coarse - fine > coarseMs ? coarse : fine);
}

function wholeMs({ threadsMs, ownMs, endedMs }: Seen): number {
  return endedMs + Math.max(ownMs, threadsMs ?? 0);
}

function eachPart(times: ByPart, value: (part: Part, ms: number) => number): ByPart {
  return Object.fromEntries(Object.entries(times).map(([part, ms]) => [part, value(part as Part, ms)]));
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
