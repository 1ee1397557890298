/** The file in which commands find the embedded chain's gateway; trusted only if that same gateway answers. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import type { ChainPaths } from './paths.ts';

interface GatewayRecord {
  port: number;
  /** A new name each time a gateway is opened. */
  name: string;
}

type Paths = Pick<ChainPaths, 'gatewayFile'>;

/** Every answer of a gateway carries its name in this header. */
export const gatewayHeader = 'x-holdfast-gateway';
const patienceMs = 5_000;

/** The file outlives the gateway, so that the next one can reuse the port. */
export async function writeGatewayFile(record: GatewayRecord, { gatewayFile }: Paths): Promise<void> {
  const draft = `${gatewayFile}.new`;
  await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
  await rename(draft, gatewayFile);
}

/** 0, meaning any free port, if it is unknown. */
export async function lastGatewayPort(paths: Paths): Promise<number> {
  return (await readGatewayFile(paths))?.port ?? 0;
}

/** Also null if another process holds the port now: after a kill that could be a node without a gateway. */
export async function findGateway(paths: Paths): Promise<string | null> {
  const record = await readGatewayFile(paths);
  if (!record) return null;
  const url = urlOfGateway(record.port);
  const agent = new Agent();
  try {
    // Every gateway refuses GET itself, without calling the node.
    const { headers, body } = await request(url, {
      dispatcher: agent,
      method: 'GET',
      signal: AbortSignal.timeout(patienceMs),
    });
    await body.dump();
    return headers[gatewayHeader] === record.name ? url : null;
  } catch {
    return null;
  } finally {
    await agent.destroy();
  }
}

export function urlOfGateway(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function readGatewayFile({ gatewayFile }: Paths): Promise<GatewayRecord | null> {
  try {
    const { port, name }: GatewayRecord = JSON.parse(await readFile(gatewayFile, 'utf8'));
    const isPort = Number.isSafeInteger(port) && port > 0 && port < 65_536;
    return isPort && typeof name === 'string' ? { port, name } : null;
  } catch {
    return null;
  }
}
