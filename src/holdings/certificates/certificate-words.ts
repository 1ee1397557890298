/** The sentences of a certificate. They state what the proof shows and nothing more. */
import type { EvmAnchor } from '../../proof/proof.ts';
import type { CertificateInput } from './certificate-input.ts';
import { chainName } from './chain-names.ts';

/** `15 November 2026 at 08:36:52 UTC` */
export function dateAndTime(date: Date): string {
  const day = date.toLocaleDateString('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
  return `${day} at ${date.toISOString().slice(11, 19)} UTC`;
}

export function sizeInWords(bytes: number | null): string {
  if (bytes === null) return 'not known: the service was given only the fingerprint';
  if (bytes === 0) return '0 bytes: an empty file';
  const exact = `${bytes.toLocaleString('en-US')} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  return power === 0 ? exact : `${exact} (${(bytes / 1000 ** power).toPrecision(3)} ${units[power - 1]})`;
}

export function chainInWords({ chainId }: EvmAnchor, embedded: boolean): string {
  const name = embedded ? 'the development chain of this service' : chainName(chainId);
  return name === null ? `the chain with the id ${chainId}` : `${name} (chain id ${chainId})`;
}

/** The main statement; the rest of the certificate explains it. */
export function statement({ file, vault, embedded }: CertificateInput, anchor: EvmAnchor): string {
  const time = dateAndTime(new Date(anchor.blockTime * 1000));
  const fingerprint = file.canonicalization === 'raw' ? 'SHA-256 fingerprint' : 'keyed fingerprint';
  const chain = chainInWords(anchor, embedded);
  const recorded = `The fingerprint, sealed with the key of the vault “${vault.name}”, was recorded in block ${anchor.blockNumber.toLocaleString('en-US')} of ${chain}.`;
  const same = `Anything that has this fingerprint today is, byte for byte, what was sealed then.`;
  if (embedded) {
    return `According to the operator of this service, content with the ${fingerprint} given below existed no later than ${time}. ${recorded} ${same}`;
  }
  return `Content with the ${fingerprint} given below existed no later than ${time}. ${recorded} ${same}`;
}

export const notCertified = [
  'That the content is true, lawful or complete, or who wrote it.',
  'When the content was created: it existed at the time of the block and may be older.',
  'Which person acted: a seal identifies the vault, not the person who used it.',
  'That there is no later version, or that nothing else was anchored.',
  'The name, type, size and expiry of the file: they were stated by whoever submitted it.',
];

export function marksOf({ status, embedded }: CertificateInput): string[] {
  return [
    ...(embedded ? ['DEVELOPMENT EVIDENCE: NO PROOF OF TIME FOR ANYONE ELSE'] : []),
    ...(status === 'finalized' ? [] : ['PROVISIONAL: THE BLOCK IS NOT FINAL YET']),
  ];
}

export interface Notice {
  title: string;
  text: string;
  grave: boolean;
}

/** What a reader must know first. */
export function noticesOf(input: CertificateInput, anchor: EvmAnchor): Notice[] {
  const { file, status, embedded, madeAt } = input;
  const notices: Notice[] = [];
  if (embedded) {
    notices.push({
      title: 'Development evidence',
      text: 'The operator of this service runs this chain alone and can set its clock and rebuild it, so the time below is only the operator’s word. Do not rely on this document.',
      grave: true,
    });
  }
  if (status !== 'finalized') {
    notices.push({
      title: 'Provisional',
      text: `When this certificate was created, block ${anchor.blockNumber.toLocaleString('en-US')} was confirmed but not final: the chain could still replace it, and the content would be anchored again in a later one. Download the certificate again once the file is “finalized”.`,
      grave: true,
    });
  }
  if (file.expiresAt !== null && file.expiresAt <= madeAt) {
    notices.push({
      title: 'Expired',
      text: `Whoever submitted the file stated that it expires on ${dateAndTime(file.expiresAt)}. That time has passed. The proof is not affected.`,
      grave: false,
    });
  }
  if (file.erased !== null) {
    const at = dateAndTime(file.erased.at);
    notices.push(
      file.erased.bytesKept
        ? {
            title: 'Content withdrawn',
            text: `Erasure of the content was requested on ${at}, and it can no longer be downloaded as this file. The bytes still exist because another file of the same vault has the same content. The proof is not affected.`,
            grave: false,
          }
        : {
            title: 'Content erased',
            text: `The copy of this file that the service stored was erased on ${at}, and the service cannot restore it. The proof stays valid for anyone who has the same bytes.`,
            grave: false,
          },
    );
  }
  return notices;
}

export interface Step {
  text: string;
  commands: string[];
}

export function stepsToVerify({ file, verifyUrl, embedded }: CertificateInput): Step[] {
  return [
    {
      text: 'Save the file “proof.json” that is attached to this PDF. A PDF reader lists attachments beside the pages; on the command line:',
      commands: ['pdfdetach -saveall CERTIFICATE.pdf'],
    },
    file.canonicalization === 'raw'
      ? {
          text: 'Compute the fingerprint of your copy of the file, and compare it with the one in this certificate (Linux, macOS, Windows):',
          commands: ['sha256sum FILE', 'shasum -a 256 FILE', 'certutil -hashfile FILE SHA256'],
        }
      : {
          text: 'Compute the keyed fingerprint of your copy of the file with the key (salt) that its owner keeps, and compare it:',
          commands: ['openssl dgst -sha256 -mac HMAC -macopt hexkey:SALT FILE'],
        },
    {
      text: `Check the proof against the chain: open this page and choose proof.json and your copy. The check runs in your browser; neither of them is uploaded. Any other Holdfast service has the same page.${
        isLocal(verifyUrl) ? ' This address works only on the machine of the service itself.' : ''
      }`,
      commands: [verifyUrl],
    },
    {
      text: embedded
        ? 'Or check it with the open-source program, without this service. A development chain never gives a full pass: its time proves nothing.'
        : 'Or check it with the open-source program, without this service, against a node of the chain that you trust:',
      commands: ['holdfast verify proof.json FILE --rpc https://YOUR-NODE'],
    },
  ];
}

function isLocal(url: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}
