/** The page at /verify: runs the verifier on this device whenever something is chosen, and shows its result. */
import {
  type History,
  type HistoryVerification,
  historyFormat,
  verifyHistory,
} from '../../src/proof/verify/history.ts';
import { parseProof, proofFormat } from '../../src/proof/verify/proof.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { type AllClockWords, clockWordsOf } from './clock-words.ts';
import { followColours } from './colours.ts';
import { documentTextOf } from './embedded-proof.ts';
import { createFileCard, element, takeDrops } from './file-card.ts';
import { piecesOf } from './file-pieces.ts';
import { historyVerdictOf, placesOf } from './history-words.ts';
import { readNamedFiles } from './named-files.ts';
import { type Options, readOptions, showUsualRegistry } from './options.ts';
import { factsOf } from './proof-facts.ts';
import {
  mostShown,
  showHistory,
  showNothing,
  showOutline,
  showProgress,
  showResult,
  showRunning,
  showTrouble,
} from './result-view.ts';
import { createTrustCard } from './trust-file.ts';
import { verdictOf } from './verdict-words.ts';

/** Below this size, reading takes no noticeable time. */
const progressFromBytes = 50 * 1024 * 1024;

const form = element<HTMLFormElement>('form');
const proof = createFileCard('proof', {
  empty: 'Choose or drop a proof (JSON), a history, or a certificate (PDF)',
  onChange: () => void check(),
});
const content = createFileCard('content', {
  empty: 'Optional: your copy of the file, or a record’s data as JSON',
  onChange: () => void check(),
});
const trust = createTrustCard(() => void check());

const notAProof = 'Not a proof';

/** Counts the checks, so that a late result of an earlier one is not shown. */
let latest = 0;

async function check(): Promise<void> {
  latest += 1;
  const mine = latest;
  const file = proof.file();
  const options = await readOptions(form, trust.file());
  if (mine !== latest) return;
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
      const clocks = await clocksOf(document as History, result, options);
      if (mine === latest) showHistory(result, historyVerdictOf(result, places), clocks);
      return;
    }
    const start = performance.now();
    const result = await verifyProof(text, {
      ...options,
      content: given ? piecesOf(given, onProgress) : undefined,
    });
    performance.measure('verify', { start });
    const { proof: read } = parseProof(document);
    const clocks = read
      ? await clockWordsOf(read, { ...options, hasNode: options.chain !== undefined })
      : new Map();
    const facts = read ? factsOf(read) : [];
    if (mine === latest) showResult(result, { ...verdictOf(result, given !== null), facts, clocks });
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

/** For the proofs that are shown. */
async function clocksOf(
  { proofs }: History,
  { proofs: results }: HistoryVerification,
  options: Options,
): Promise<AllClockWords[]> {
  const all: AllClockWords[] = [];
  for (const proof of results.length === 0 ? [] : proofs.slice(0, mostShown)) {
    all.push(await clockWordsOf(proof, { ...options, hasNode: options.chain !== undefined }));
  }
  return all;
}

function reasonOf(error: unknown, name: string): string {
  if (error instanceof TypeError)
    return `${name} is not a proof: it is neither text in UTF-8 nor a certificate.`;
  if (error instanceof DOMException) return `A file could not be read (${error.name}). Choose it again.`;
  return error instanceof Error ? error.message : String(error);
}

/** A link to this page may name a proof and its content. */
function openNamed(): void {
  readNamedFiles(location.hash).then(
    (named) => {
      if (named === null) return;
      content.set(named.content);
      proof.set(named.proof);
    },
    (error: unknown) => showTrouble(reasonOf(error, 'The proof that the link names')),
  );
}

followColours();
showUsualRegistry();
form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('change', (event) => {
  if (event.target instanceof HTMLInputElement && event.target.type !== 'file') void check();
});
element('again').addEventListener('click', () => void check());
element('restart').addEventListener('click', () => {
  // Clears the proof first: without it no check runs and no node is asked.
  proof.set(null);
  content.set(null);
  trust.set(null);
  form.reset();
  void check();
  element('proof').focus();
});
takeDrops({ proof, content, trust });
showOutline();
// On going back to the page, browsers restore what was typed.
void check();
openNamed();
addEventListener('hashchange', openNamed);
