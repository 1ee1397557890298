/**
 * Reads the timestamp anchors of one document, whatever occurs several times only once, and counts the signatures that would
 * have to be checked: certificates of one name could have issued each other in very many ways.
 */
import {
  checkTimestampAnchor,
  fromBase64,
  type TimestampAnchor,
  timestampLimits,
  tokenIn,
} from './anchor.ts';
import { type Certificate, readCertificate, type TrustAnchor } from './certificates.ts';
import { must, readOr, textOf } from './der.ts';
import { type Crl, readCrl } from './revocation.ts';
import { readToken, type Token } from './token.ts';

export interface ReadAnchor {
  token: Token;
  /** All certificates, the token's own first, each once. */
  pool: Certificate[];
  crls: Crl[];
}

export interface ReadTimestamps {
  /** Throws a TokenFault when the anchor cannot be read. */
  read(anchor: TimestampAnchor): ReadAnchor;
  /** They need more checks than anybody makes: then none of them is judged. */
  areTooMany: boolean;
}

/** Enough for seventeen batches with four authorities each, whose paths and lists are all different. */
const mostChecks = 768;

/** `anchors` are all those of the document, also of its renewals. */
export function readTimestamps(
  anchors: readonly TimestampAnchor[],
  roots: readonly TrustAnchor[],
): ReadTimestamps {
  const known: Known = { certificates: new Map(), crls: new Map() };
  const done = new Map<TimestampAnchor, ReadAnchor>();
  const read = (anchor: TimestampAnchor) => {
    const one = done.get(anchor) ?? readTimestampAnchor(anchor, known);
    done.set(anchor, one);
    return one;
  };
  const rooted = bySubject(roots);
  /** By what is signed, the keys that may have signed it. */
  const signers = new Map<object, Set<string>>();
  let checks = 0;
  for (const anchor of anchors) {
    const one = readOr(null, () => read(anchor));
    if (one === null) continue;
    checks += 1;
    const named = bySubject(one.pool);
    for (const { issuer, signed } of [...one.pool, ...one.crls]) {
      const name = textOf(issuer);
      const keys = signers.get(signed) ?? new Set();
      checks -= keys.size;
      for (const { spki } of [...(named.get(name) ?? []), ...(rooted.get(name) ?? [])])
        keys.add(textOf(spki));
      checks += keys.size;
      signers.set(signed, keys);
    }
  }
  return { read, areTooMany: checks > mostChecks };
}

/** What was read before, by its bytes. */
interface Known {
  certificates: Map<string, Certificate>;
  crls: Map<string, Crl>;
}

/** Everything must be readable, also what turns out not to be needed; throws a TokenFault. */
export function readTimestampAnchor(
  anchor: TimestampAnchor,
  known: Known = { certificates: new Map(), crls: new Map() },
): ReadAnchor {
  const [fault] = checkTimestampAnchor(anchor, '');
  must(fault === undefined, `${fault?.path || 'The anchor'} ${fault?.message}.`);
  const token = readToken(tokenIn(anchor));
  const beside = anchor.certificates.map((text, at) =>
    readCertificate(fromBase64(text) ?? new Uint8Array(), `Certificate ${at + 1} of the anchor`),
  );
  const crls = anchor.crls.map((text, at) =>
    onceIn(known.crls, text, () =>
      readCrl(fromBase64(text) ?? new Uint8Array(), `List ${at + 1} of revoked certificates`),
    ),
  );
  const all = [...token.certificates, ...beside];
  const most = timestampLimits.certificates;
  must(all.length <= most, `There are more than ${most} certificates.`);
  const pool = new Set(all.map((one) => onceIn(known.certificates, textOf(one.bytes), () => one)));
  return { token, pool: [...pool], crls };
}

function onceIn<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** `Map.groupBy` is not in Node.js 20, where this runs too, as part of the package of the verifier. */
function bySubject<Named extends { subject: Uint8Array }>(all: readonly Named[]): Map<string, Named[]> {
  const named = new Map<string, Named[]>();
  for (const one of all) {
    const name = textOf(one.subject);
    const others = named.get(name);
    if (others) others.push(one);
    else named.set(name, [one]);
  }
  return named;
}
