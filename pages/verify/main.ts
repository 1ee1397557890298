/** The page at /verify: runs the verifier on this device whenever something is chosen, and shows its result. */
import type { Hex } from 'viem';
import { createAnchorReader } from '../../src/chain/registry/anchor-reader.ts';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { type History, historyFormat, verifyHistory } from '../../src/proof/history.ts';
import { parseProof, proofFormat } from '../../src/proof/proof.ts';
import { verifyProof } from '../../src/proof/verify.ts';
import { followColours } from './colours.ts';
import { documentTextOf } from './embedded-proof.ts';
import { createFileCard, element, takeDrops } from './file-card.ts';
import { piecesOf } from './file-pieces.ts';
import { historyVerdictOf, placesOf } from './history-words.ts';
import { factsOf } from './proof-facts.ts';
import {
  showHistory,
  showNothing,
  showOutline,
  showProgress,
  showResult,
  showRunning,
  showTrouble,
} from './result-view.ts';
import { createRpcCall } from './rpc-call.ts';
import { verdictOf } from './verdict-words.ts';

/** Below this size, reading takes no noticeable time. */
const progressFromBytes = 50 * 1024 * 1024;

const form = element<HTMLFormElement>('form');
const fields = {
  rpc: element<HTMLInputElement>('rpc'),
  salt: element<HTMLInputElement>('salt'),
  registry: element<HTMLInputElement>('registry'),
};
const proof = createFileCard('proof', {
  empty: 'Choose or drop a proof (JSON), a history, or a certificate (PDF)',
  onChange: () => void check(),
});
const content = createFileCard('content', {
  empty: 'Optional: your copy of the file, or a record’s data as JSON',
  onChange: () => void check(),
});

const notAProof = 'Not a proof';

/** Counts the checks, so that a late result of an earlier one is not shown. */
let latest = 0;

async function check(): Promise<void> {
  latest += 1;
  const mine = latest;
  const file = proof.file();
  const options = readOptions();
  if (file === null) return showNothing();
  if (options === null) return showTrouble('One of the options is not valid.');
  showRunning();
  try {
    const text = await documentTextOf(file).catch((error: unknown) => {
      // A file that cannot be read may still be a proof.
      if (error instanceof DOMException) throw error;
      if (mine === latest) showTrouble(reasonOf(error, file.name), notAProof);
      return null;
    });
    if (text === null) return;
    const document = parsed(text);
    const foreign = foreignReason(document, file.name);
    if (foreign !== null) {
      if (mine === latest) showTrouble(foreign, notAProof);
      return;
    }
    const given = content.file();
    const onProgress = (share: number) => {
      if (mine === latest && given && given.size > progressFromBytes) showProgress(share);
    };
    if (Object(document).format === historyFormat) {
      const result = await verifyHistory(text, options);
      const read = () => piecesOf(given as File, onProgress);
      // Without a result for any proof, the document is not a history, and there is nothing to compare.
      const places =
        given && result.proofs.length > 0
          ? await placesOf(document as History, { size: given.size, read })
          : null;
      if (mine === latest) showHistory(result, historyVerdictOf(result, places));
      return;
    }
    const result = await verifyProof(text, {
      ...options,
      content: given ? piecesOf(given, onProgress) : undefined,
    });
    const { proof: read } = parseProof(document);
    const isAnchored = result.steps.some(({ name, status }) => name === 'chain' && status === 'pass');
    const chainId = isAnchored ? ((await options.chain?.chainId()) ?? null) : null;
    const facts = read ? factsOf(read, chainId) : [];
    if (mine === latest) showResult(result, { ...verdictOf(result), facts });
  } catch (error) {
    if (mine === latest) showTrouble(reasonOf(error, file.name));
  }
}

/**
 * Why the document is not a proof, or null if it claims to be one. Somebody who chose the wrong file must not read that a
 * proof failed.
 */
function foreignReason(document: unknown, name: string): string | null {
  const { format } = Object(document) as { format?: unknown };
  if (format === proofFormat || format === historyFormat) return null;
  if (document === undefined) return `${name} is not a proof: it is text, but not JSON.`;
  return `${name} is not a proof: it is JSON whose format is neither ${proofFormat} nor ${historyFormat}.`;
}

/** Undefined when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null when a field is invalid; the field then shows why. */
function readOptions() {
  const node = new FormData(form).get('node');
  element('own-node').hidden = node !== 'own';
  const rpc = node === 'own' ? readField('rpc', isRpcAddress) : '';
  const salt = readField('salt', (text) => /^(0x)?[0-9a-f]{64}$/i.test(text));
  const registry = readField('registry', (text) => /^0x[0-9a-f]{40}$/i.test(text));
  if (rpc === null || salt === null || registry === null) return null;
  const address = node === 'service' ? '/verify/rpc' : rpc;
  return {
    chain: address === '' ? undefined : createAnchorReader(createRpcCall(address)),
    registry: { address: registry || registryAddress, codeHash: registryCodeHash },
    salt: salt === '' ? undefined : (`0x${salt.toLowerCase().replace(/^0x/, '')}` as Hex),
  };
}

const faults: Record<keyof typeof fields, string> = {
  rpc: 'Enter an address that begins with https://, or with http:// on this machine.',
  salt: 'Enter a salt of 32 bytes: 64 hex digits.',
  registry: 'Enter an address: 0x followed by 40 hex digits.',
};

function readField(name: keyof typeof fields, isRight: (text: string) => boolean): string | null {
  const field = fields[name];
  const text = field.value.trim();
  const right = text === '' || isRight(text);
  field.setAttribute('aria-invalid', String(!right));
  element(`${name}-fault`).textContent = right ? '' : faults[name];
  return right ? text : null;
}

/** The addresses that the page's content security policy allows. */
function isRpcAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname));
}

function reasonOf(error: unknown, name: string): string {
  if (error instanceof TypeError)
    return `${name} is not a proof: it is neither text in UTF-8 nor a certificate.`;
  if (error instanceof DOMException) return `A file could not be read (${error.name}). Choose it again.`;
  return error instanceof Error ? error.message : String(error);
}

followColours();
fields.registry.placeholder = registryAddress;
form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('change', (event) => {
  if (event.target instanceof HTMLInputElement && event.target.type !== 'file') void check();
});
element('again').addEventListener('click', () => void check());
element('restart').addEventListener('click', () => {
  // Clears the proof first: without it no check runs and no node is asked.
  proof.set(null);
  content.set(null);
  form.reset();
  void check();
  element('proof').focus();
});
takeDrops({ proof, content });
showOutline();
// On going back to the page, browsers restore what was typed.
void check();
