/** The part of an actor that makes files: alone, several at once, of the same bytes, by their hash alone, and further versions. */
import type { Call } from './client.ts';
import { bytesOf, type Content, newContent } from './content.ts';
import type { FileEntry, FileVersionEntry, Thing } from './journal.ts';
import { isActive } from './record-load.ts';
import type { MakerDeps } from './thing-load.ts';

export interface FileMaker {
  /** Those that were acknowledged. */
  own: FileEntry[];
  /** The vaults are active, but for those that are named otherwise. */
  create(vault: Thing): Promise<void>;
  /** Several at once; `sameBytes`: all of them with the same, which is stored once. */
  createMany(vault: Thing, options: { sameBytes: boolean }): Promise<void>;
  createHashOnly(vault: Thing): Promise<void>;
  addVersion(vault: Thing): Promise<void>;
  /** Asks again for a version that was acknowledged: the answer is the same, whatever happened to the file since. */
  askAgain(vault: Thing): Promise<void>;
  askForTrouble(vault: Thing, inactive: Thing[]): Promise<void>;
  /** Written down, and not sent yet. */
  plan(vault: Thing, content: Content): FileEntry;
  send(entry: FileEntry): Promise<void>;
}

export const filesPath = '/platform/files';
/** A few mebibytes take a while on a busy machine. */
export const uploadPatienceMs = 15_000;
const mostAtOnce = 4;

interface Answer {
  id: string;
  name: string;
  version: number;
  vaultAddress: string;
  contentHash: string;
  size: number | null;
}

export function createFileMaker({ asking, journal, random, newName }: MakerDeps): FileMaker {
  const own: FileEntry[] = [];

  function plan(vault: Thing, content: Content, { stored = true } = {}): FileEntry {
    const name = newName('file');
    const entry: FileEntry = {
      name,
      id: '',
      lost: 0,
      versions: [{ content, stored, vault, key: name, acknowledged: false }],
      owner: vault,
      transfers: [],
      underWay: false,
      validations: [],
    };
    journal.files.push(entry);
    return entry;
  }

  /** Now and then twice at the same time, as an impatient client does; both have to tell the same. */
  async function post(entry: FileEntry, version: FileVersionEntry): Promise<Answer | undefined> {
    const call = callFor(entry, version);
    const once = () =>
      asking.expectYes(call, () => {
        entry.lost += 1;
      });
    const answers = await Promise.all(random.chance(0.1) ? [once(), once()] : [once()]);
    const told = new Set(answers.map(({ json }) => `${json?.id} ${json?.version}`));
    if (told.size > 1)
      journal.complaints.push(`${version.key} was answered in two ways: ${[...told].join(', ')}`);
    return answers[0]?.json;
  }

  async function send(entry: FileEntry): Promise<void> {
    const version = entry.versions.at(-1);
    if (!version) return;
    const answer = await post(entry, version);
    expectAnswer(entry, entry.versions.length, answer);
    entry.id = answer?.id ?? '';
    version.acknowledged = true;
    if (entry.versions.length === 1) own.push(entry);
  }

  function expectAnswer(entry: FileEntry, number: number, answer: Answer | undefined): void {
    const version = entry.versions[number - 1];
    if (
      !version ||
      answer?.name !== entry.name ||
      answer.version !== number ||
      answer.vaultAddress !== version.vault.address ||
      answer.contentHash !== version.content.contentHash ||
      answer.size !== (version.stored ? version.content.size : null) ||
      (entry.id !== '' && answer.id !== entry.id)
    )
      journal.complaints.push(
        `${entry.name}, version ${number}, was acknowledged with ${JSON.stringify(answer)}`,
      );
  }

  return {
    own,
    plan,
    send,
    create: (vault) => send(plan(vault, newContent(newName('bytes'), random))),
    async createMany(vault, { sameBytes }) {
      const content = newContent(newName('bytes'), random);
      const entries = Array.from({ length: random.between(2, mostAtOnce) }, () =>
        plan(vault, sameBytes ? content : newContent(newName('bytes'), random)),
      );
      await Promise.all(entries.map(send));
    },
    createHashOnly: (vault) => send(plan(vault, newContent(newName('bytes'), random), { stored: false })),

    async addVersion(vault) {
      const open = own.filter(({ owner, underWay }) => !underWay && isActive(owner));
      if (open.length === 0) return this.create(vault);
      const entry = random.pick(open);
      entry.versions.push({
        content: newContent(newName('bytes'), random),
        stored: random.chance(0.7),
        vault: entry.owner,
        key: `${entry.name}-version-${entry.versions.length + 1}`,
        acknowledged: false,
      });
      await send(entry);
    },

    async askAgain(vault) {
      if (own.length === 0) return this.create(vault);
      const entry = random.pick(own);
      const number = random.between(1, entry.versions.length);
      const version = entry.versions[number - 1];
      if (version) expectAnswer(entry, number, await post(entry, version));
    },

    async askForTrouble(vault, inactive) {
      const name = newName('refused');
      const content = newContent(name, random);
      const version = { content, stored: true, vault, key: name, acknowledged: false };
      const good = { vaultAddress: vault.address, name };
      const form = (fields: Record<string, string>, headers: Record<string, string> = {}): Call => ({
        ...formCall(filesPath, fields, version),
        headers,
      });
      const { contentHash } = content;
      const refusals: Call[] = [
        form({ ...good, colour: 'red' }),
        form({ ...good, name: `../${name}` }),
        form({ ...good, expirationDate: '2001-01-01' }),
        form({ ...good, vaultAddress: `0x${'0'.repeat(39)}1` }),
        form(good, { 'x-api-key': 'hf_live_wrong' }),
        ...inactive.map(({ address }) => form({ ...good, vaultAddress: address })),
        // Other bytes under a key that was used.
        ...own.slice(-1).map((entry) => form(good, { 'idempotency-key': entry.name })),
        { method: 'POST', path: filesPath, body: { ...good, contentHash: contentHash.slice(0, -1) } },
        { method: 'POST', path: filesPath, body: good },
      ];
      const { outcome } = await asking.ask(random.pick(refusals));
      if (outcome === 'acknowledged') journal.complaints.push(`${name} should have been refused`);
      journal.refusedFiles.add(name);
    },
  };
}

/** As it was first asked for: a repeat is the same to the last byte. */
function callFor(entry: FileEntry, version: FileVersionEntry): Call {
  const first = version === entry.versions[0];
  const path = first ? filesPath : `${filesPath}/${entry.id}/versions`;
  const headers = { 'idempotency-key': version.key };
  const fields = first ? { vaultAddress: version.vault.address, name: entry.name } : { name: entry.name };
  if (version.stored) return { ...formCall(path, fields, version), headers };
  const body = { ...fields, contentHash: version.content.contentHash };
  return { method: 'POST', path, body, headers };
}

function formCall(
  path: string,
  fields: Record<string, string>,
  { content }: Pick<FileVersionEntry, 'content'>,
): Call {
  return { method: 'POST', path, form: () => formOf(fields, content), patienceMs: uploadPatienceMs };
}

export function formOf(fields: Record<string, string>, content: Content): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new File([bytesOf(content)], 'sent.bin'));
  return form;
}
