/** The part of an actor that has its files validated, and hands them on from one of its vaults to another. */
import { newContent } from './content.ts';
import { type FileMaker, filesPath, formOf, uploadPatienceMs } from './file-load.ts';
import type { FileEntry, Thing } from './journal.ts';
import { isActive } from './record-load.ts';
import type { MakerDeps } from './thing-load.ts';

export interface CustodyMaker {
  /** Does nothing where there is no file. */
  validate(vaults: Thing[]): Promise<void>;
  /** Does nothing where there is nothing to hand on, or nobody to take it. */
  transfer(vaults: Thing[]): Promise<void>;
}

interface HistoryItem {
  type: string;
  id: string;
  status: string;
  toVaultAddress: string;
}

export function createCustodyMaker(
  { asking, journal, random, newName }: MakerDeps,
  { own }: Pick<FileMaker, 'own'>,
): CustodyMaker {
  /** Whether the transfers that were asked for are completed; then it is known whose the file is. */
  async function catchUp(entry: FileEntry): Promise<boolean> {
    if (!entry.underWay) return true;
    const path = `${filesPath}/${entry.id}/history?limit=1000`;
    const { json } = await asking.expectYes({ method: 'GET', path });
    const transfers = (json as HistoryItem[]).filter(({ type }) => type === 'transfer');
    if (transfers.some(({ status }) => status !== 'confirmed' && status !== 'finalized')) return false;
    const taker = transfers.at(-1)?.toVaultAddress;
    entry.owner = entry.transfers.find(({ to }) => to.address === taker)?.to ?? entry.owner;
    entry.underWay = false;
    return true;
  }

  /** Present what was stored, or something else; say whose it is, or leave it open. */
  async function validate(vaults: Thing[]): Promise<void> {
    if (own.length === 0) return;
    const entry = random.pick(own);
    const version = random.between(1, entry.versions.length);
    const sent = entry.versions[version - 1];
    if (!sent) return;
    const integrity = random.chance(0.7);
    const content = integrity ? sent.content : newContent(newName('bytes'), random);
    const vault = random.chance(0.3) ? random.pick(vaults) : null;
    const about = { version: String(version), ...(vault && { vaultAddress: vault.address }) };
    const { contentHash } = content;
    const { json } = await asking.expectYes({
      method: 'POST',
      path: `${filesPath}/${entry.id}/validate`,
      headers: { 'idempotency-key': newName('validation') },
      patienceMs: uploadPatienceMs,
      ...(random.chance(0.5)
        ? { form: () => formOf(about, content) }
        : { body: { ...about, version, contentHash } }),
    });
    if (typeof json?.id !== 'string' || json.fileId !== entry.id || json.version !== version)
      journal.complaints.push(`a validation of ${entry.name} was acknowledged with ${JSON.stringify(json)}`);
    entry.validations.push({ id: json?.id, version, integrity, vault });
  }

  /** Now and then to two at once, of whom at most one can win until its transfer is completed. */
  async function transfer(vaults: Thing[]): Promise<void> {
    if (own.length === 0) return;
    const entry = random.pick(own);
    if (!(await catchUp(entry))) return;
    const takers = random.shuffle(vaults.filter((vault) => isActive(vault) && vault !== entry.owner));
    const asked = takers.slice(0, random.chance(0.3) ? 2 : 1);
    if (asked.length === 0) return;
    entry.underWay = true;
    const answers = await Promise.all(
      asked.map(async (to) => {
        const call = {
          method: 'POST',
          path: `${filesPath}/${entry.id}/transfer`,
          body: { destinationVaultAddress: to.address },
          headers: { 'idempotency-key': newName('transfer') },
        };
        const lost = () => {
          entry.lost += 1;
        };
        return { to, ...(await asking.ask(call, lost)) };
      }),
    );
    const won = answers.filter(({ outcome }) => outcome === 'acknowledged');
    entry.transfers.push(...won.map(({ to, json }) => ({ id: json.id, to })));
    const wrong = answers.filter(({ outcome, status }) => outcome === 'refused' && status !== 409);
    if (won.length === 0 || wrong.length > 0)
      journal.complaints.push(
        `a transfer of ${entry.name} was answered ${JSON.stringify(answers.map(({ status, json }) => ({ status, json })))}`,
      );
  }

  return { validate, transfer };
}
