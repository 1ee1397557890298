/** The sentences of a certificate. They state what the proof shows and nothing more. */
import {
  type AuthorityClock,
  type BlockClock,
  type CertificateClock,
  type CertificateInput,
  type ChainKind,
  chiefClock,
} from './certificate-input.ts';

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

export function chainInWords({ chain, name, chainId }: ChainKind & { chainId: number }): string {
  if (chain === 'embedded') return `the development chain of this service (chain id ${chainId})`;
  if (chain === 'unknown') return `a chain that is not known publicly (chain id ${chainId})`;
  return `${name}${chain === 'test' ? ', a test network' : ''} (chain id ${chainId})`;
}

function clockInWords(clock: CertificateClock): string {
  if (clock.kind === 'authority') return `the timestamp authority ${clock.name}`;
  if (clock.kind === 'bitcoin') return `Bitcoin block ${number(clock.height)}, give or take 2 hours`;
  return `block ${number(clock.number)} of ${chainInWords(clock)}`;
}

/** The main statement; the rest of the certificate explains it. */
export function statement(input: CertificateInput): string {
  const { file, vault } = input;
  const clock = chiefClock(input);
  const fingerprint = file.canonicalization === 'raw' ? 'SHA-256 fingerprint' : 'keyed fingerprint';
  const existed = `ontent with the ${fingerprint} given below existed no later than ${dateAndTime(clock.at)}`;
  const who = clockInWords(clock);
  const vouched = {
    shipped: `C${existed}: ${who} vouches for that.`,
    operator: `C${existed}, according to ${who}, whom the operator of this service chose.`,
    nobody: isWaiting(clock)
      ? `C${existed}, as soon as ${who} is final.`
      : `According to the operator of this service, c${existed}: that is the time of ${who}.`,
  }[clock.standing];
  return `${vouched} The fingerprint was sealed with the key of the vault “${vault.name}”. Anything that has this fingerprint today is, byte for byte, what was sealed then.`;
}

/** A block of a public chain, which will count once it is final. */
function isWaiting(clock: CertificateClock): clock is BlockClock {
  return clock.kind === 'block' && clock.chain === 'public' && !clock.isFinal;
}

export function firstAnchored(at: Date): string {
  return `First anchored on ${dateAndTime(at)} according to this service, in an earlier format. That is a statement of the service: the attached proof does not show it.`;
}

export const notCertified = [
  'That the content is true, lawful or complete, or who wrote it.',
  'When the content was created: it existed at the time above and may be older.',
  'Which person acted: a seal identifies the vault, not the person who used it.',
  'That there is no later version, or that nothing else was anchored.',
  'The name, type, size and expiry of the file: they were stated by whoever submitted it.',
];

/** Bands that nobody may overlook, one line each. */
export function marksOf(input: CertificateInput): string[] {
  const chief = chiefClock(input);
  return [
    ...developmentMarks(chief),
    ...(input.clocks[0].isFinal ? [] : ['PROVISIONAL: THE BLOCK IS NOT FINAL YET']),
  ];
}

export const developmentMark = 'DEVELOPMENT EVIDENCE: NO PROOF OF TIME FOR ANYONE ELSE';

function developmentMarks(chief: CertificateClock): string[] {
  if (chief.standing === 'shipped' || isWaiting(chief)) return [];
  if (chief.standing === 'nobody') return [developmentMark];
  const { name, root } = chief as AuthorityClock;
  return [
    `DEVELOPMENT EVIDENCE: VOUCHED FOR BY ${shortened(root?.name ?? name)} (${(root?.fingerprint ?? '').slice(2, 18)}…),`,
    'WHOM THE OPERATOR OF THIS SERVICE CHOSE',
  ];
}

/** A band has room for some 80 letters. */
function shortened(name: string): string {
  return name.length > 30 ? `${name.slice(0, 29)}…` : name;
}

export interface Notice {
  title: string;
  text: string;
  grave: boolean;
}

/** What a reader must know first. */
export function noticesOf(input: CertificateInput): Notice[] {
  const { file, clocks, madeAt } = input;
  const [block] = clocks;
  const notices: Notice[] = [];
  const development = developmentText(chiefClock(input), block);
  if (development !== null) notices.push({ title: 'Development evidence', text: development, grave: true });
  if (!block.isFinal) {
    notices.push({
      title: 'Provisional',
      text: `When this certificate was created, block ${number(block.number)} was confirmed but not final: the chain could still replace it, and the content would be anchored again in a later one. Download the certificate again once the file is “finalized”.`,
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

function developmentText(chief: CertificateClock, block: BlockClock): string | null {
  if (chief.standing === 'shipped' || isWaiting(chief)) return null;
  if (chief.kind === 'authority' && chief.standing === 'operator') {
    const { name, root } = chief;
    return `Nobody whom Holdfast trusts by itself vouches for the time below. It is vouched for by ${name} under the root certificate ${root?.name} (SHA-256 fingerprint ${root?.fingerprint.slice(2)}), whom the operator of this service chose. Whether that authority is good enough is for you to decide.`;
  }
  return `${whyDevelopment(block, 'the time below is')} Do not rely on this document.`;
}

/** Why nobody else vouches for a time; `times`: which one, as the subject of a sentence. */
export function whyDevelopment({ chain, name }: ChainKind, times: string): string {
  return {
    embedded: `The operator of this service runs this chain alone and can set its clock and rebuild it, so ${times} only the operator’s word.`,
    test: `${name} is a test network, which may be reset and whose clock is no evidence.`,
    unknown: `The chain is not among the public chains whose clock is known: its operator may have set it, so ${times} only the operator’s word.`,
    public: 'Nobody else vouches for the time below.',
  }[chain];
}

export interface Step {
  text: string;
  commands: string[];
}

export function stepsToVerify(input: CertificateInput): Step[] {
  const { file, verifyUrl } = input;
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
      text: `Check the proof: open this page and choose proof.json and your copy. The check runs in your browser; neither of them is uploaded. Any other Holdfast service has the same page.${
        isLocal(verifyUrl) ? ' This address works only on the machine of the service itself.' : ''
      }`,
      commands: [verifyUrl],
    },
    programStep(chiefClock(input)),
  ];
}

function programStep(chief: CertificateClock): Step {
  const program = 'Or check it with the open-source program, without this service';
  const command = 'holdfast verify proof.json FILE';
  if (chief.standing === 'operator') {
    return {
      text: `${program}, with a trust file that has the root certificate named above, if you trust it:`,
      commands: [`${command} --trust TRUST.json`],
    };
  }
  if (chief.kind === 'block' && chief.chain === 'public') {
    return {
      text: `${program}, against a node of the chain that you trust:`,
      commands: [`${command} --rpc https://YOUR-NODE`],
    };
  }
  if (chief.standing === 'shipped') return { text: `${program} and without a network:`, commands: [command] };
  return {
    text: `${program}. It gives no full pass as long as nobody whom you trust vouches for the time:`,
    commands: [command],
  };
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}

function isLocal(url: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}
