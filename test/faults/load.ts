/** The load: actors that create vaults, workers and records, move and describe their own vaults, and ask for what must be refused. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createAsking } from './asking.ts';
import type { Call, Client } from './client.ts';
import type { Journal, Thing } from './journal.ts';
import type { Random } from './random.ts';
import { createRecordMaker, isActive } from './record-load.ts';
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

const longestSettleMs = 60_000;
/** Moves have no Idempotency-Key: given up and sent elsewhere, a late first one could undo a later one. */
const movePatienceMs = 45_000;

const paths = { vault: '/platform/vaults', worker: '/damc/workers/' };

export function createLoad({ client, journal, random, actors }: LoadDeps & { actors: number }): Load {
  let running = false;
  let working: Promise<void>[] = [];
  const makers = Array.from({ length: actors }, (_, number) =>
    createActor(number, { client, journal, random: random.stream(`actor ${number}`) }),
  );

  async function keepActing(act: () => Promise<void>, pauses: Random): Promise<void> {
    while (running) {
      await act();
      await sleep(pauses.between(0, 25));
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
        throw new Violation(`requests got no answer within ${longestSettleMs} ms`, [...things, ...records]);
      }
    },
  };
}

function createActor(number: number, { client, journal, random }: LoadDeps): () => Promise<void> {
  const { ask, expectYes } = createAsking(client, journal);
  const vaults: Thing[] = [];
  let made = 0;

  function newName(kind: string): string {
    made += 1;
    return `${kind}-${number}-${made}`;
  }

  const records = createRecordMaker({ asking: { ask, expectYes }, journal, random, newName });

  async function create(kind: Thing['kind']): Promise<void> {
    const name = newName(kind);
    const thing: Thing = {
      kind,
      name,
      state: 'unknown',
      lost: 0,
      address: '',
      moves: [],
      moving: null,
      description: '',
    };
    journal.things.push(thing);
    const call = { method: 'POST', path: paths[kind], body: { name }, headers: { 'idempotency-key': name } };
    const once = () =>
      expectYes(call, () => {
        thing.lost += 1;
      });
    // Now and then twice at the same time, as an impatient client does.
    const answers = await Promise.all(random.chance(0.1) ? [once(), once()] : [once()]);
    const addresses = new Set(answers.map(({ json }) => json?.address));
    if (addresses.size > 1)
      journal.complaints.push(`${name} was created more than once: ${[...addresses].join(', ')}`);
    thing.address = [...addresses][0] ?? '';
    thing.state = 'acknowledged';
    if (kind === 'vault') vaults.push(thing);
  }

  async function move(): Promise<void> {
    const vault = random.pick(vaults);
    const next = vault.moves.at(-1) === 'deactivate' ? 'reactivate' : 'deactivate';
    vault.moving = next;
    const { json } = await expectYes({
      method: 'PATCH',
      path: `${paths.vault}/${vault.address}/${next}`,
      patienceMs: movePatienceMs,
    });
    if (json?.status !== (next === 'deactivate' ? 'inactive' : 'active'))
      journal.complaints.push(`${next} of ${vault.name} was acknowledged with ${JSON.stringify(json)}`);
    vault.moves.push(next);
    vault.moving = null;
  }

  async function describe(): Promise<void> {
    const vault = random.pick(vaults);
    const description = newName('description');
    await expectYes({
      method: 'PUT',
      path: `${paths.vault}/${vault.address}`,
      body: { description },
      patienceMs: movePatienceMs,
    });
    vault.description = description;
  }

  async function askForTrouble(): Promise<void> {
    const name = newName('refused');
    const refusals: Partial<Call>[] = [
      { body: { name, colour: 'red' } },
      { body: { name }, headers: { 'x-api-key': 'hf_live_wrong' } },
      { body: { name }, headers: { 'idempotency-key': random.pick(vaults).name } },
    ];
    const ended = await ask({ method: 'POST', path: paths.vault, ...random.pick(refusals) });
    if (ended.outcome === 'acknowledged') journal.complaints.push(`${name} should have been refused`);
    journal.refused.add(name);
  }

  async function makeRecords(choice: number): Promise<void> {
    const active = vaults.filter(isActive);
    if (active.length === 0) return create('vault');
    const vault = random.pick(active);
    if (choice < 0.44) return records.create(vault);
    if (choice < 0.47) return records.createMany(vault);
    if (choice < 0.53) return records.addVersion(vault);
    const inactive = vaults.filter((one) => !isActive(one)).slice(0, 1);
    return records.askForTrouble(vault, inactive);
  }

  return async () => {
    if (vaults.length === 0) return create('vault');
    const choice = random.next();
    if (choice < 0.14) return create('vault');
    if (choice < 0.2) return create('worker');
    if (choice < 0.24) return askForTrouble();
    if (choice < 0.3) return describe();
    if (choice < 0.56) return makeRecords(choice);
    return move();
  };
}
