/** The page inside a dossier: checks the given archive or folder on this device, and shows the findings. */
import { createAnchorReader } from '../../src/chain/registry/anchor-reader.ts';
import { checkDossier } from '../../src/maintenance/dossier-check/dossier-check.ts';
import type { DossierFiles } from '../../src/maintenance/dossier-check/dossier-files.ts';
import { registryCode, usualRegistry } from '../../src/proof/evm/usual-registry.ts';
import { utf8Text } from '../../src/proof/utf8.ts';
import { element, isTrustFile } from '../verify/file-card.ts';
import { readField } from '../verify/option-field.ts';
import { createRpcCall } from '../verify/rpc-call.ts';
import { sizeText } from '../verify/size-text.ts';
import { createTrustCard, readTrustFile } from '../verify/trust-file.ts';
import { droppedFiles, openFolder } from './folder-files.ts';
import { rememberChain } from './remembered-chain.ts';
import { showProgress, showReport, showRunning, showTrouble } from './report.ts';
import { openZip } from './zip-file.ts';

interface Given {
  name: string;
  open(): Promise<DossierFiles>;
}

/** The longest time without letting the browser render. */
const turnMs = 40;

/** A proof has a few kilobytes. */
const mostSealBytes = 16 * 1024 * 1024;

let given: Given | null = null;
/** The proof of dossier.json, if it was given separately. */
let seal: File | null = null;
const trust = createTrustCard(() => void check());
/** Counts the checks: an older check stops when a new one begins. */
let latest = 0;

async function check(): Promise<void> {
  latest += 1;
  const mine = latest;
  const options = await readOptions();
  if (mine !== latest || given === null) return;
  if (options === null) return showTrouble('One of the options is not valid.');
  showRunning(given.name);
  try {
    let since = performance.now();
    const result = await checkDossier(await given.open(), {
      ...options,
      seal: await readSeal(),
      onProgress: (done, all) => {
        if (mine === latest) showProgress(all === 0 ? 1 : done / all);
      },
      async pause() {
        if (performance.now() - since < turnMs) return;
        await new Promise((resolve) => setTimeout(resolve));
        if (mine !== latest) throw new Superseded();
        since = performance.now();
      },
    });
    if (mine === latest) showReport(result, { asked: options.chain !== undefined });
  } catch (error) {
    if (mine === latest) showTrouble(error instanceof Error ? error.message : String(error));
  }
}

class Superseded extends Error {}

async function readSeal(): Promise<string | undefined> {
  if (seal === null) return undefined;
  if (seal.size > mostSealBytes) throw new Error(`${seal.name} is too large to be the proof of a dossier.`);
  try {
    return utf8Text(await seal.arrayBuffer());
  } catch {
    throw new Error(`${seal.name} is not the proof of a dossier: it is not text in UTF-8.`);
  }
}

/** Null when a field is invalid; the field then shows why. */
async function readOptions() {
  const rpc = readField('rpc');
  const registry = readField('registry');
  const trusted = await readTrustFile(trust.file());
  if (registry === null || trusted === null) {
    element<HTMLDetailsElement>('options').open = true;
    return null;
  }
  if (rpc === null) return null;
  return {
    trust: trusted,
    chain: rpc === '' ? undefined : rememberChain(createAnchorReader(createRpcCall(rpc))),
    registry: { address: registry || usualRegistry, codeHash: registryCode },
  };
}

function take(what: File | Map<string, File>): void {
  // The proof belongs to the dossier before.
  if (given !== null) showSeal(null);
  const isZip = what instanceof File;
  const name = isZip ? `${what.name} · ${sizeText(what.size)}` : `${what.size} files`;
  given = { name, open: isZip ? () => openZip(what) : async () => openFolder(what) };
  element('zip-card').classList.toggle('chosen', isZip);
  element('folder-card').classList.toggle('chosen', !isZip);
  element('zip-state').textContent = isZip ? name : 'Choose or drop dossier-….zip';
  element('folder-state').textContent = isZip ? 'If you have unpacked it' : name;
  void check();
}

function takeSeal(file: File): void {
  showSeal(file);
  void check();
}

function showSeal(file: File | null): void {
  seal = file;
  element('seal-card').classList.toggle('chosen', file !== null);
  element('seal-state').textContent = file
    ? `${file.name} · ${sizeText(file.size)}`
    : 'Only if the dossier has no dossier-proof.json';
}

element<HTMLInputElement>('seal').addEventListener('change', ({ target }) => {
  const input = target as HTMLInputElement;
  const [file] = input.files ?? [];
  if (file) takeSeal(file);
  input.value = '';
});
element<HTMLInputElement>('zip').addEventListener('change', ({ target }) => {
  const input = target as HTMLInputElement;
  const [file] = input.files ?? [];
  if (file) take(file);
  // Otherwise choosing the same file again would not fire a change event.
  input.value = '';
});
element<HTMLInputElement>('folder').addEventListener('change', ({ target }) => {
  const input = target as HTMLInputElement;
  const files = [...(input.files ?? [])];
  if (files.length > 0) take(new Map(files.map((file) => [file.webkitRelativePath, file])));
  input.value = '';
});
for (const id of ['rpc', 'registry']) element(id).addEventListener('change', () => void check());
element('form').addEventListener('submit', (event) => event.preventDefault());
element('again').addEventListener('click', () => void check());
element<HTMLInputElement>('registry').placeholder = usualRegistry;
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', async (event) => {
  event.preventDefault();
  const dropped = event.dataTransfer && (await droppedFiles(event.dataTransfer));
  if (dropped?.dossier) take(dropped.dossier);
  for (const file of dropped?.documents ?? []) {
    if (await isTrustFile(file)) trust.set(file);
    else takeSeal(file);
  }
});
