/** Shared schema parts, and the sample values from which the OpenAPI document builds its examples. */
import { type Static, type TSchema, type TStringOptions, Type } from 'typebox';
import { visible } from './visible-text.ts';

/** A schema that the OpenAPI document lists in its components, under this title. */
export function named<T extends TSchema>(words: { title: string; description: string }, schema: T): T {
  return { ...schema, ...words };
}

/**
 * The examples tell one story: one morning at nine, files, records and maintenance work of a vault for harbour cranes are
 * recorded; twelve seconds later they are on the chain.
 */
export const sample = {
  workspaceId: 'ws_01KJPRZB00B3KM9W9XMT844SEZ',
  userId: 'usr_01KJPRZB00YQAKVN7KKTM5HQEJ',
  sessionId: 'ses_01KJPT3YW0RPGTEA3W2DN4G08C',
  invitationId: 'inv_01KJPSHMY0TMTQSBVTHYT4H515',
  signRequestId: 'sgr_01KJPV8JR0A12KSGG6EQ9ZTAJ3',
  keyId: 'key_01KJPTD3V0R16DW9DJR8BHA7DD',
  vaultId: 'vlt_01KJPTP8T0CB7KTJMB54RX29FR',
  vaultAddress: '0x56D0fCE7AA79fcEBDbFf13dB3763Fb9C1E354B33',
  otherVaultId: 'vlt_01KJPTR3D0T80FD8K0C7CB6BXB',
  otherVaultAddress: '0x555dFd254BA0811A8149a905BD20356e97C1b950',
  workerAddress: '0x5C7F888009Cc04f1A99628d5b5f5690D59c1a2aB',
  workerName: 'Ada Okafor',
  viewerAddress: '0x453c49b8ac5c93fd7eBfE2e86A875050e8E0F94E',
  assetId: 'ast_01KJPV8JR0X9SFW45S1XR815T6',
  parentAssetId: 'ast_01KJPVADB0EXWF2V9DK3Z3JREC',
  endpointId: 'whe_01KJPVHQQ05TVBD5MGBFFBJTZ0',
  endpointUrl: 'https://hooks.example.com/holdfast',
  recordId: 'rec_01KJPWD6M044755P9B7FEWA8JC',
  fileId: 'fil_01KJPWD6M031RZNT8PVF794CT0',
  fileName: 'load-test-2026.pdf',
  contentHash: '0xc4c4801b4b0ca2917733226d13ba3601f078987739affe6fd45ba1d2a271fc95',
  maintenanceId: 'mnt_01KJPWD6M03CY4TPCB7S91CBYB',
  maintenanceHash: '0xa569600ed07ffedc52e8c10fa1576c3b050964a60187d4a64e6524183d02248e',
  transferId: 'trf_01KJPWD6M0885QW4WFE03CTXKV',
  validationId: 'val_01KJPWD6M0WMN2ET0X69363VZH',
  intervalId: 'itv_01KJPWD6M0ZFPN30D6V7V8R9XA',
  eventId: 'evt_01KJPWDKA8Z9QW1QP51AY6ZDGE',
  approvalId: 'apr_01KJPWDKA8V3T5R7Y9W1X2Z4B6',
  noticeId: 'ntc_01KJPWDKA8M5S9T0Z6Y2Q4R7VB',
  deliveryId: 'dlv_01KJPWDKA8QFRH1WS1PWQWQX3B',
  replayId: 'rpl_01KJSJ7S80CMRNDHTC7Y7GA1EG',
  /** Of what a leaf hangs on. */
  leaf: '0x2a4ca6c529ff521d5d9c99a59358e28d827ae1c22826c27f3096711bdfffdc3f',
  salt: '0x5932cd0952dd849539b4db50ccd510dfc1014a70212112a69c4c16b541fab8fa',
  signature:
    '0x734c254bf7259ceae6e9980d4b7bf1b7775f75e0ef2939603994c781c6e84c593c78dac8d8a97d53b1ddddf8ca1d38ef8db2c6e3778796e18acf5db37247fce11b',
  /** When the morning's work was done, recorded, signed, anchored, and announced to subscribers. */
  performedAt: '2026-03-02T08:50:00.000Z',
  at: '2026-03-02T09:00:00.000Z',
  signedAt: '2026-03-02T09:00:05.000Z',
  anchoredAt: '2026-03-02T09:00:12.000Z',
  toldAt: '2026-03-02T09:00:13.000Z',
  chainId: 1,
  transactionHash: '0x3fbc2ed5dd4d26439cd111abc4ff216fa05a6997cdc779fa069e768cba4a4d88',
  blockNumber: 24_569_017,
} as const;

/** A string schema with this example. */
export function text(example: string, options: TStringOptions = {}) {
  return Type.String({ ...options, examples: [example] });
}

/**
 * The schema with another example, or with a function that makes one when needed. Members that an example object lacks
 * and the schema requires are taken from the schema.
 */
export function like<T extends TSchema>(schema: T, example: unknown): T {
  return { ...schema, examples: [example] };
}

/** An optional member that is left out of the example of its object. */
export function unshown<T extends TSchema>(schema: T) {
  return Type.Optional({ ...schema, examples: [] });
}

export const dateTime = Type.String({ format: 'date-time' });

/** Text written by people for people: without characters that change the direction of the text around them. */
export function plainText(options: TStringOptions & { maxLength: number }) {
  return Type.String({ ...options, format: 'plain-text' });
}

/** A name given by people. */
export const name = plainText({ minLength: 1, maxLength: 200, pattern: visible });

export const address = text(sample.vaultAddress, {
  format: 'address',
  description: '0x followed by 40 hexadecimal digits; mixed case must have a correct EIP-55 checksum',
});

/** The hash of a file, as given by a caller. */
export const contentHash = text(sample.contentHash, {
  format: 'hash',
  description: '0x followed by 64 hexadecimal digits: the SHA-256 of the bytes, or an HMAC of them',
});

/** The schema or null, in the short form that OpenAPI 3.1 and the serializer both handle. */
export function orNull<T extends TSchema>(schema: T) {
  const { type, title: _, enum: values, ...rest } = schema as unknown as Choice;
  return Type.Unsafe<Static<T> | null>({
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
    ...rest,
  });
}

interface Choice {
  type: string;
  title?: string;
  enum?: unknown[];
}
