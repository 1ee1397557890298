/** Reads OpenTimestamps proofs. Strict: for every file that is accepted there is one meaning, and one form of each number. */
import { toHex } from '../hex.ts';
import {
  attestationMark,
  attestationTagBytes,
  attestationTags,
  fileMagic,
  forkMark,
  formatVersion,
  maxFileBytes,
  maxNumber,
  maxPathOperations,
  maxPayloadBytes,
  maxResultsBytes,
  maxUriBytes,
  uriPattern,
} from './encoding.ts';
import {
  digestBytes,
  maxMessageBytes,
  resultBytes,
  type TimestampOperation,
  takesArgument,
} from './operations.ts';
import type { Attestation, DetachedFile, TimestampTree } from './timestamp.ts';

/** The bytes are not a proof; the message continues "the file". */
export class MalformedTimestamp extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedTimestamp';
  }
}

/** Throws `MalformedTimestamp`. */
export function readDetachedFile(bytes: Uint8Array): DetachedFile {
  const source = createSource(bytes);
  const magic = source.take(Math.min(fileMagic.length, bytes.length));
  if (toHex(magic) !== toHex(fileMagic)) throw new MalformedTimestamp('is not an OpenTimestamps proof');
  const version = source.number();
  if (version !== formatVersion) throw new MalformedTimestamp(`has version ${version}, not ${formatVersion}`);
  const hashTag = source.byte();
  const length = digestBytes[hashTag];
  if (length === undefined) throw new MalformedTimestamp(`names an unknown hash function, ${hashTag}`);
  const digest = source.take(length);
  return { hashTag, digest, tree: readTree(source, length) };
}

/** A timestamp alone, as calendars send it, for a message of this length. Throws `MalformedTimestamp`. */
export function readTimestamp(bytes: Uint8Array, messageBytes: number): TimestampTree {
  return readTree(createSource(bytes), messageBytes);
}

/** Of the fifth byte of a number, which is the last that it may have. */
const maxScale = 128 ** 4;

type Source = ReturnType<typeof createSource>;

function createSource(bytes: Uint8Array) {
  if (bytes.length > maxFileBytes) throw new MalformedTimestamp(`has more than ${maxFileBytes} bytes`);
  let at = 0;

  function take(length: number): Uint8Array {
    if (length > bytes.length - at) throw new MalformedTimestamp('ends too early');
    at += length;
    return bytes.slice(at - length, at);
  }
  function byte(): number {
    const value = bytes[at];
    if (value === undefined) throw new MalformedTimestamp('ends too early');
    at += 1;
    return value;
  }
  /** Seven bits in each byte, the lowest first. */
  function number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = byte();
      value += (next % 128) * scale;
      if (scale > maxScale || value > maxNumber)
        throw new MalformedTimestamp('has a number that is too large');
      if (next >= 128) continue;
      if (next === 0 && scale > 1) throw new MalformedTimestamp('has a number with needless zeros');
      return value;
    }
  }
  function sized(max: number): Uint8Array {
    const length = number();
    if (length > max) throw new MalformedTimestamp(`has ${length} bytes where at most ${max} are allowed`);
    return take(length);
  }
  return {
    take,
    byte,
    number,
    sized,
    /** What was read since `start`, as text. */
    since: (start: number) => toHex(bytes.subarray(start, at)),
    at: () => at,
    requireEnd() {
      if (at !== bytes.length) throw new MalformedTimestamp(`has ${bytes.length - at} bytes too many`);
    },
  };
}

function readTree(source: Source, messageBytes: number): TimestampTree {
  let resultsBytes = 0;

  function readNode(length: number, depth: number): TimestampTree {
    const node: TimestampTree = { attestations: [], branches: [] };
    const seen = new Set<string>();
    for (let last = false; !last; ) {
      let tag = source.byte();
      last = tag !== forkMark;
      if (!last) tag = source.byte();
      const start = source.at();
      const attestation = tag === attestationMark ? readAttestation(source) : null;
      const operation = { tag, argument: readArgument(source, tag) };
      const entry = `${tag} ${source.since(start)}`;
      if (seen.has(entry)) throw new MalformedTimestamp('repeats an attestation or operation of one message');
      seen.add(entry);
      if (attestation !== null) node.attestations.push(attestation);
      else node.branches.push({ operation, tree: readResult(operation, length, depth) });
    }
    return node;
  }

  function readResult(operation: TimestampOperation, length: number, depth: number): TimestampTree {
    if (depth === maxPathOperations) {
      throw new MalformedTimestamp(`has more than ${maxPathOperations} operations in a row`);
    }
    const result = resultBytes(operation, length);
    if (result === undefined) throw new MalformedTimestamp(`has an unknown operation, ${operation.tag}`);
    if (result > maxMessageBytes) {
      throw new MalformedTimestamp(`has a message of more than ${maxMessageBytes} bytes`);
    }
    resultsBytes += result;
    if (resultsBytes > maxResultsBytes) {
      throw new MalformedTimestamp(`has messages of more than ${maxResultsBytes} bytes together`);
    }
    return readNode(result, depth + 1);
  }

  const tree = readNode(messageBytes, 0);
  source.requireEnd();
  return tree;
}

const empty = new Uint8Array();

function readArgument(source: Source, tag: number): Uint8Array {
  if (!takesArgument(tag)) return empty;
  const argument = source.sized(maxMessageBytes);
  if (argument.length === 0) throw new MalformedTimestamp('has an operation that adds nothing');
  return argument;
}

function readAttestation(source: Source): Attestation {
  const tag = source.take(attestationTagBytes);
  const payload = source.sized(maxPayloadBytes);
  const content = createSource(payload);
  const attestation = readPayload(toHex(tag), content);
  if (attestation === null) return { kind: 'unknown', tag, payload };
  content.requireEnd();
  return attestation;
}

function readPayload(tag: string, content: Source): Attestation | null {
  switch (tag) {
    case attestationTags.bitcoin:
      return { kind: 'bitcoin', height: content.number() };
    case attestationTags.litecoin:
      return { kind: 'litecoin', height: content.number() };
    case attestationTags.pending: {
      const uri = String.fromCharCode(...content.sized(maxUriBytes));
      if (!uriPattern.test(uri))
        throw new MalformedTimestamp('has a calendar address with a character that is not allowed');
      return { kind: 'pending', uri };
    }
    default:
      return null;
  }
}
