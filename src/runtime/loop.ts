/** Background work: a loop has a name and a run function; the supervisor restarts it, reports its health and stops it. */
import { OperatorError } from './errors.ts';

export interface Loop {
  name: string;
  /** Runs until the signal aborts. Calls `beat` at least every `stuckAfterMs` while it is healthy. */
  run(signal: AbortSignal, beat: () => void): Promise<void>;
  /** Without a beat for this long the loop counts as stuck. */
  stuckAfterMs: number;
  /** True for work that requests do not depend on, such as anchoring: a node is ready without it. */
  dispensable?: boolean;
}

export interface LoopHealth {
  name: string;
  dispensable: boolean;
  state: 'running' | 'backing-off' | 'stuck' | 'stopped';
  failures: number;
  lastError: string | null;
}

export interface Supervisor {
  start(): void;
  health(): LoopHealth[];
  /** Aborts every loop and waits for all of them; a loop that ignores its signal is abandoned after the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

export interface LoopLog {
  info(details: object, message: string): void;
  error(details: object, message: string): void;
}

const firstBackoffMs = 100;
const longestBackoffMs = 10_000;
/** Longer, as an operator does not fix anything within seconds. */
const operatorBackoffMs = 30_000;

export function superviseLoops(loops: Loop[], log: LoopLog): Supervisor {
  const stopping = new AbortController();
  const watched = loops.map((loop) => ({
    loop,
    lastBeat: performance.now(),
    failures: 0,
    lastError: null as string | null,
    backingOff: false,
    done: Promise.resolve(),
  }));
  let started = false;

  async function keepRunning(entry: (typeof watched)[number]): Promise<void> {
    const { loop } = entry;
    let backoffMs = firstBackoffMs;
    while (!stopping.signal.aborted) {
      try {
        const beat = () => {
          entry.lastBeat = performance.now();
          if (entry.lastError !== null) log.info({ loop: loop.name }, 'loop recovered');
          entry.lastError = null;
          backoffMs = firstBackoffMs;
        };
        await loop.run(stopping.signal, beat);
        if (!stopping.signal.aborted) throw new Error('the loop ended unexpectedly');
      } catch (error) {
        if (stopping.signal.aborted) return;
        entry.failures += 1;
        entry.lastError = error instanceof Error ? error.message : String(error);
        // Logs the whole error once, and one line while the failures continue.
        const details = backoffMs === firstBackoffMs ? { err: error } : { error: entry.lastError };
        const retryInMs = error instanceof OperatorError ? operatorBackoffMs : backoffMs;
        log.error({ loop: loop.name, ...details, retryInMs }, 'loop failed');
        entry.backingOff = true;
        await pause(retryInMs, stopping.signal);
        entry.backingOff = false;
        backoffMs = Math.min(backoffMs * 2, longestBackoffMs);
      }
    }
  }

  return {
    start() {
      started = true;
      for (const entry of watched) {
        entry.lastBeat = performance.now();
        entry.done = keepRunning(entry);
      }
    },
    health() {
      const now = performance.now();
      return watched.map(({ loop, lastBeat, failures, lastError, backingOff }) => {
        const stuck = now - lastBeat > loop.stuckAfterMs;
        const state =
          !started || stopping.signal.aborted
            ? 'stopped'
            : stuck
              ? 'stuck'
              : backingOff
                ? 'backing-off'
                : 'running';
        return { name: loop.name, dispensable: loop.dispensable ?? false, state, failures, lastError };
      });
    },
    async stop(deadlineMs) {
      stopping.abort();
      const all = Promise.all(watched.map((entry) => entry.done));
      const givenUp = new AbortController();
      await Promise.race([all, pause(deadlineMs, givenUp.signal)]);
      givenUp.abort();
    },
  };
}

/** Lets a commit wake the loop that processes it; calls while nobody waits are remembered as one. */
export interface Wakeup {
  wake(): void;
  /** Resolves at the next call of `wake`, after `ms`, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWakeup(): Wakeup {
  let woken = false;
  let interrupt: (() => void) | null = null;
  return {
    wake() {
      woken = true;
      interrupt?.();
    },
    // Without AbortSignal.any, which is costly for something that loops do many times a second.
    async wait(ms, signal) {
      if (!woken && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const finish = () => {
            clearTimeout(timer);
            signal.removeEventListener('abort', finish);
            if (interrupt === finish) interrupt = null;
            resolve();
          };
          const timer = setTimeout(finish, ms);
          signal.addEventListener('abort', finish, { once: true });
          interrupt = finish;
        });
      }
      woken = false;
    },
  };
}

/** Tells a loop when what it works on may have changed, whoever changed it. */
export interface Changes {
  /**
   * Wakes the loop no later than `everyMs` after a change, and no more often than that. The first change after a calm time
   * may take up to 0.4 s. Returns how to end this.
   */
  follow(wakeup: Pick<Wakeup, 'wake'>, everyMs: number): () => void;
}

/** A loop that follows changes looks this often without any, in case that something else made work for it. */
export const quietMs = 10_000;

export interface RepeatingLoop {
  name: string;
  /**
   * Does one round of work; true when there may be more to do immediately, false when there is nothing to do, and `again`
   * when there may be something after a rest, even if nothing changes until then.
   */
  step(signal: AbortSignal): Promise<boolean | 'again'>;
  /** How long to rest when there is nothing to do. */
  restMs: number;
  wakeup?: Wakeup;
  /** When given, a loop with nothing to do rests until something has changed. */
  changes?: Changes | undefined;
  /** The longest time a step may take before the loop counts as stuck; added to the rest. */
  longestStepMs?: number;
}

/** A loop that repeats one step, rests when the step finds nothing, and can be woken early. */
export function repeating({
  name,
  step,
  restMs,
  wakeup = createWakeup(),
  changes,
  longestStepMs = 30_000,
}: RepeatingLoop): Loop {
  const idleMs = changes ? Math.max(restMs, quietMs) : restMs;
  return {
    name,
    stuckAfterMs: idleMs + longestStepMs,
    async run(signal, beat) {
      const unfollow = changes?.follow(wakeup, restMs);
      try {
        while (!signal.aborted) {
          const more = await step(signal);
          beat();
          if (more !== true) await wakeup.wait(more === 'again' ? restMs : idleMs, signal);
        }
      } finally {
        unfollow?.();
      }
    },
  };
}

/** Waits `ms`, or less when the signal aborts; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Runs the work on the first call, and returns the same promise on every later call. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
