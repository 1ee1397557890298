/** The file that tells commands where the door of the embedded chain is; believed only if that very door answers. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import type { ChainPlaces } from './paths.ts';

interface DoorRecord {
  port: number;
  /** Another one for each that was opened. */
  name: string;
}

type Places = Pick<ChainPlaces, 'doorFile'>;

/** In every answer of a door: its name. */
export const doorHeader = 'x-holdfast-door';
const patienceMs = 5_000;

/** Stays when the door is closed, for the port. */
export async function writeDoorFile(record: DoorRecord, { doorFile }: Places): Promise<void> {
  const draft = `${doorFile}.new`;
  await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
  await rename(draft, doorFile);
}

/** 0, which is any free one, when it is not known. */
export async function lastDoorPort(places: Places): Promise<number> {
  return (await readDoorFile(places))?.port ?? 0;
}

/** Null also where something else holds the port by now: after a kill that could be a node without a door. */
export async function findDoor(places: Places): Promise<string | null> {
  const record = await readDoorFile(places);
  if (!record) return null;
  const url = urlOfDoor(record.port);
  const agent = new Agent();
  try {
    // Refused by any door, without asking the node.
    const { headers, body } = await request(url, {
      dispatcher: agent,
      method: 'GET',
      signal: AbortSignal.timeout(patienceMs),
    });
    await body.dump();
    return headers[doorHeader] === record.name ? url : null;
  } catch {
    return null;
  } finally {
    await agent.destroy();
  }
}

export function urlOfDoor(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function readDoorFile({ doorFile }: Places): Promise<DoorRecord | null> {
  try {
    const { port, name }: DoorRecord = JSON.parse(await readFile(doorFile, 'utf8'));
    const isPort = Number.isSafeInteger(port) && port > 0 && port < 65_536;
    return isPort && typeof name === 'string' ? { port, name } : null;
  } catch {
    return null;
  }
}
