/** Reads a dossier back with a third-party ZIP reader, and checks it. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { registryAddress, registryCodeHash } from '../../../src/chain/registry/registry.ts';
import { checkDossier, type DossierVerdict } from '../../../src/maintenance/dossier-check/dossier-check.ts';
import type { DossierFiles } from '../../../src/maintenance/dossier-check/dossier-files.ts';
import type { Dossier, EntryLine } from '../../../src/maintenance/dossier-check/dossier-format.ts';
import type { ChainReader } from '../../../src/proof/verify/chain-reader.ts';
import type { Service } from '../service/service.ts';

export interface ReadDossier {
  /** By path. */
  files: Map<string, Buffer>;
  dossier: Dossier;
  lines: EntryLine[];
  verdict: DossierVerdict;
}

export async function openDossier(path: string, chain?: ChainReader): Promise<ReadDossier> {
  const files = await unzip(path);
  const textOf = (name: string) => files.get(name)?.toString() ?? '';
  const lines = [...files.keys()]
    .filter((name) => name.startsWith('entries/'))
    .flatMap((name) => textOf(name).trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as EntryLine);
  return {
    files,
    dossier: JSON.parse(textOf('dossier.json')),
    lines,
    verdict: await check(files, chain),
  };
}

/** `seal`: the proof of dossier.json, if it is not among the files. */
export function check(
  files: Map<string, Buffer>,
  chain?: ChainReader,
  seal?: string,
): Promise<DossierVerdict> {
  const given: DossierFiles = {
    names: () => [...files.keys()],
    open(path) {
      const bytes = files.get(path);
      return bytes ? pieces(bytes) : null;
    },
  };
  const registry = { address: registryAddress, codeHash: registryCodeHash };
  return checkDossier(given, { chain, registry, seal });
}

/** Downloads the response of a path below the API. */
export async function download(service: Service, path: string, file: string): Promise<Response> {
  const response = await fetch(service.url + path, { headers: { 'x-api-key': service.key } });
  if (response.ok && response.body) await pipeline(response.body, createWriteStream(file));
  return response;
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** Also checks sizes and CRCs. */
async function unzip(path: string): Promise<Map<string, Buffer>> {
  const zip = await yauzl.openPromise(path);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    const parts: Buffer[] = [];
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part);
    files.set(entry.fileName, Buffer.concat(parts));
  }
  return files;
}
