/** The load: actors that make vaults, workers, records, files and assets, move and describe their own vaults, and ask for what must be refused. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createAsking } from './asking.ts';
import type { Call, Client, Ended } from './client.ts';
import { createCustodyMaker } from './custody-load.ts';
import { createFileMaker } from './file-load.ts';
import type { Journal, Thing } from './journal.ts';
import { createMaintenanceMaker } from './maintenance-load.ts';
import type { Random } from './random.ts';
import { createRecordMaker, isActive } from './record-load.ts';
import { makeThing, thingPaths } from './thing-load.ts';
import { Violation } from './violation.ts';

export interface Load {
  start(): void;
  /** Lets every actor finish what it is about: what was lost is asked again until it is acknowledged. */
  settle(): Promise<void>;
}

export interface LoadDeps {
  client: Client;
  journal: Journal;
  random: Random;
}

/** Four times the longest patience of a request, which may be asked anew. */
const longestSettleMs = 180_000;
/** Moves have no Idempotency-Key: given up and sent elsewhere, a late first one could undo a later one. */
const movePatienceMs = 45_000;

export interface LoadOptions {
  /** How many there are, and how long each of them rests at most between two things that it does. */
  actors: number;
  longestPauseMs: number;
  /**
   * A request whose answer was lost may still run on a node that hangs. Sent again, a move or a description changes
   * nothing a second time, but a late first one would undo what came after it: such a vault is left as it is.
   */
  answersMayComeLate?: boolean;
}

export function createLoad({
  actors,
  longestPauseMs,
  answersMayComeLate = false,
  ...deps
}: LoadDeps & LoadOptions): Load {
  const { client, journal, random } = deps;
  let running = false;
  let working: Promise<void>[] = [];
  const makers = Array.from({ length: actors }, (_, number) =>
    createActor(number, {
      client,
      journal,
      random: random.stream(`actor ${number}`),
      answersMayComeLate,
    }),
  );

  async function keepActing(act: () => Promise<void>, pauses: Random): Promise<void> {
    while (running) {
      await act();
      await sleep(pauses.between(0, longestPauseMs));
    }
  }

  return {
    start() {
      running = true;
      working = makers.map((act, number) => keepActing(act, random.stream(`pauses ${number}`)));
    },
    async settle() {
      running = false;
      const late = new AbortController();
      const settled = await Promise.race([
        Promise.all(working).then(() => true),
        sleep(longestSettleMs, false, { signal: late.signal }),
      ]);
      late.abort();
      if (!settled) {
        const things = journal.things.filter(({ state, moving }) => state === 'unknown' || moving !== null);
        const records = journal.records.filter(({ versions }) => !versions.at(-1)?.acknowledged);
        const files = journal.files.filter(({ versions }) => !versions.at(-1)?.acknowledged);
        const assets = journal.assets.filter(({ acknowledged }) => !acknowledged);
        const open = [...things, ...records, ...files, ...assets];
        throw new Violation(`requests got no answer within ${longestSettleMs} ms`, open);
      }
    },
  };
}

function createActor(
  number: number,
  { client, journal, random, answersMayComeLate }: LoadDeps & Pick<LoadOptions, 'answersMayComeLate'>,
): () => Promise<void> {
  const { ask, expectYes } = createAsking(client, journal);
  const vaults: Thing[] = [];
  const workers: Thing[] = [];
  const leftAlone = new Set<Thing>();
  let made = 0;

  function newName(kind: string): string {
    made += 1;
    return `${kind}-${number}-${made}`;
  }

  const deps = { asking: { ask, expectYes }, journal, random, newName };
  const records = createRecordMaker(deps);
  const files = createFileMaker(deps);
  const custody = createCustodyMaker(deps, files);
  const maintenances = createMaintenanceMaker(deps);

  async function create(kind: Thing['kind']): Promise<void> {
    const thing = await makeThing(deps, kind);
    (kind === 'vault' ? vaults : workers).push(thing);
  }

  /** Null: there is none whose last change was answered at once. */
  function changeable(): Thing | null {
    const among = vaults.filter((vault) => !leftAlone.has(vault));
    return among.length > 0 ? random.pick(among) : null;
  }

  /** Each change of a vault waits for the answer to the one before. */
  async function change(vault: Thing, call: Call): Promise<Ended> {
    return expectYes({ ...call, patienceMs: movePatienceMs }, () => {
      if (answersMayComeLate) leftAlone.add(vault);
    });
  }

  async function move(): Promise<void> {
    const vault = changeable();
    if (!vault) return create('vault');
    const next = vault.moves.at(-1) === 'deactivate' ? 'reactivate' : 'deactivate';
    vault.moving = next;
    const path = `${thingPaths.vault}/${vault.address}/${next}`;
    const { json } = await change(vault, { method: 'PATCH', path });
    if (json?.status !== (next === 'deactivate' ? 'inactive' : 'active'))
      journal.complaints.push(`${next} of ${vault.name} was acknowledged with ${JSON.stringify(json)}`);
    vault.moves.push(next);
    vault.moving = null;
  }

  async function describe(): Promise<void> {
    const vault = changeable();
    if (!vault) return create('vault');
    const description = newName('description');
    const path = `${thingPaths.vault}/${vault.address}`;
    await change(vault, { method: 'PUT', path, body: { description } });
    vault.description = description;
  }

  async function askForTrouble(): Promise<void> {
    const name = newName('refused');
    const refusals: Partial<Call>[] = [
      { body: { name, colour: 'red' } },
      { body: { name }, headers: { 'x-api-key': 'hf_live_wrong' } },
      { body: { name }, headers: { 'idempotency-key': random.pick(vaults).name } },
    ];
    const ended = await ask({ method: 'POST', path: thingPaths.vault, ...random.pick(refusals) });
    if (ended.outcome === 'acknowledged') journal.complaints.push(`${name} should have been refused`);
    journal.refused.add(name);
  }

  const inactive = () => vaults.filter((one) => !isActive(one)).slice(0, 1);

  function makeRecords(vault: Thing, choice: number): Promise<void> {
    if (choice < 0.55) return records.create(vault);
    if (choice < 0.65) return records.createMany(vault);
    if (choice < 0.9) return records.addVersion(vault);
    return records.askForTrouble(vault, inactive());
  }

  function makeFiles(vault: Thing, choice: number): Promise<void> {
    if (choice < 0.3) return files.create(vault);
    if (choice < 0.36) return files.createMany(vault, { sameBytes: false });
    if (choice < 0.42) return files.createMany(vault, { sameBytes: true });
    if (choice < 0.5) return files.createHashOnly(vault);
    if (choice < 0.6) return files.addVersion(vault);
    if (choice < 0.75) return custody.validate(vaults);
    if (choice < 0.9) return custody.transfer(vaults);
    if (choice < 0.94) return files.askAgain(vault);
    return files.askForTrouble(vault, inactive());
  }

  function keepAssets(vault: Thing, choice: number): Promise<void> {
    const [worker] = workers;
    if (!worker) return create('worker');
    if (choice < 0.2) return maintenances.createAsset(vault, worker);
    return choice < 0.65 ? maintenances.recordWork() : maintenances.sign();
  }

  return async () => {
    if (vaults.length === 0) return create('vault');
    const choice = random.next();
    if (choice < 0.08) return create('vault');
    if (choice < 0.12) return create('worker');
    if (choice < 0.15) return askForTrouble();
    if (choice < 0.18) return describe();
    if (choice < 0.34) return move();
    const active = vaults.filter(isActive);
    if (active.length === 0) return create('vault');
    const vault = random.pick(active);
    if (choice < 0.6) return makeRecords(vault, random.next());
    if (choice < 0.93) return makeFiles(vault, random.next());
    return keepAssets(vault, random.next());
  };
}
