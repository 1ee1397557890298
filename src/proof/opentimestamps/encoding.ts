/** What the reader and the writer of OpenTimestamps proofs share: marks, tags and bounds of the format. */
import { fromHex } from '../hex.ts';

/** "\0OpenTimestamps\0\0Proof\0" and eight bytes that no text has. */
export const fileMagic = fromHex('0x004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294');
export const formatVersion = 1;

/** Before every attestation. */
export const attestationMark = 0x00;
/** Before every attestation or operation of a message that is not its last one. */
export const forkMark = 0xff;

export const attestationTags = {
  pending: '0x83dfe30d2ef90c8e',
  bitcoin: '0x0588960d73d71901',
  litecoin: '0x06869a0d73d71b45',
} as const;
export const attestationTagBytes = 8;

/** The reference implementation bounds neither; complete proofs have some kilobytes. */
export const maxFileBytes = 65_536;
/** The results of all operations together. Without it, a few bytes each could have 4,096 bytes hashed. */
export const maxResultsBytes = 2 ** 18;

/** As in the reference implementation. */
export const maxPathOperations = 255;
export const maxPayloadBytes = 8192;
export const maxUriBytes = 1000;
export const uriPattern = /^[A-Za-z0-9\-._/:]*$/;

/** Also of block heights: Bitcoin reaches this in 80,000 years. */
export const maxNumber = 2 ** 32 - 1;
