/** Attached files in a dossier: each that an entry names is there with its hash, or is named as missing. */
import { contentDigest } from '../../proof/content.ts';
import type { DossierFiles } from './dossier-files.ts';
import type { FindingsLog } from './dossier-findings.ts';
import { attachmentPath, type Dossier, type DossierAttachment, type EntryLine } from './dossier-format.ts';

export interface AttachmentCheck {
  add(line: EntryLine): void;
  /** After the last entry. `unreadable` says why a file cannot be read, or throws. */
  end(unreadable: (error: unknown) => string): Promise<void>;
}

interface Named {
  attachment: DossierAttachment;
  /** The entry that names it. */
  maintenanceId: string;
}

export function createAttachmentCheck({
  files,
  findings,
  dossier,
}: {
  files: DossierFiles;
  findings: FindingsLog;
  dossier: Dossier;
}): AttachmentCheck {
  /** By path, what entries say of the file there: several may attach one version. */
  const named = new Map<string, Named[]>();
  const without = createMissing('Attached files whose bytes are not in the dossier');
  const gone = createMissing(
    'Attached files that entries list and the dossier lacks: erased while it was written, or taken out',
  );
  const keyed = createMissing('Attached files that are hashed under a key that their owner keeps');

  function add(maintenanceId: string, attachment: DossierAttachment): void {
    const { path } = attachment;
    if (path === null) {
      if (dossier.attachmentsIncluded) without.add(attachment);
      return;
    }
    if (path !== attachmentPath(attachment)) {
      findings.fault(maintenanceId, `says that ${attachment.name} is at ${path}, which is not its path`);
      return;
    }
    const others = named.get(path) ?? [];
    named.set(path, others);
    const isSame = ({ attachment: { contentHash, canonicalization } }: Named) =>
      contentHash === attachment.contentHash && canonicalization === attachment.canonicalization;
    if (!others.some(isSame)) others.push({ attachment, maintenanceId });
  }

  async function check(path: string, all: Named[]): Promise<void> {
    const content = files.open(path);
    if (content === null) return gone.add(all[0]?.attachment);
    for (const { attachment } of all) if (attachment.canonicalization !== 'raw') keyed.add(attachment);
    const hashed = all.filter(({ attachment }) => attachment.canonicalization === 'raw');
    if (hashed.length === 0) return;
    const digest = await contentDigest({ canonicalization: 'raw', salt: null }, content);
    const others = hashed.filter(({ attachment }) => attachment.contentHash !== digest);
    for (const { attachment, maintenanceId } of others) {
      findings.fault(path, `is not the file ${attachment.name} that its entry ${maintenanceId} names`);
    }
    if (others.length === 0) findings.count('attachments');
  }

  return {
    add({ maintenanceId, attachments }) {
      for (const attachment of Array.isArray(attachments) ? attachments : []) {
        try {
          add(maintenanceId, attachment);
        } catch (error) {
          findings.fault(String(maintenanceId), `lists an attachment badly: ${(error as Error).message}`);
        }
      }
    },
    async end(unreadable) {
      for (const [path, all] of named) {
        try {
          await check(path, all);
        } catch (error) {
          findings.fault(path, unreadable(error));
        }
      }
      for (const { gap } of [without, gone, keyed]) {
        const message = gap();
        if (message !== null) findings.gap(message);
      }
    },
  };
}

/** Nobody would read more. */
const mostNamed = 10;

/** One sentence about all of them, with the names of the first. */
function createMissing(what: string) {
  const all = new Map<string, string>();
  return {
    add(attachment: DossierAttachment | undefined): void {
      if (attachment === undefined) return;
      const { fileId, version, name } = attachment;
      all.set(`${fileId} ${version}`, `${name} (${fileId}, version ${version})`);
    },
    gap(): string | null {
      if (all.size === 0) return null;
      const names = [...all.values()].slice(0, mostNamed).join(', ');
      return `${what}: ${names}${all.size > mostNamed ? `, and ${all.size - mostNamed} more` : ''}.`;
    },
  };
}
