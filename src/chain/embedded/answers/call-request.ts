/** Reads the call that eth_call and eth_estimateGas are given. */
import type { Hex } from 'viem';
import type { CallRequest } from '../engine/protocol.ts';
import { failed, invalid } from './faults.ts';
import {
  isAbsent,
  optional,
  readAddress,
  readBigQuantity,
  readData,
  readFields,
  readHash,
  readList,
} from './parameters.ts';

/** EIP-3860. */
const mostInitCodeBytes = 49_152;
/** Far above what the gas of a call pays for. */
const mostAccessEntries = 10_000;
const mostGasGiven = BigInt(Number.MAX_SAFE_INTEGER);

export function readCallRequest(value: unknown, chainId: number): CallRequest {
  const fields = readFields(value, 'the call');
  requireSupported(fields, chainId);
  const to = optional(fields.get('to'), readAddress, 'to');
  const data = readInput(fields);
  if (to === undefined && data !== undefined && data.length > 2 + 2 * mostInitCodeBytes) {
    throw failed(`max initcode size exceeded: at most ${mostInitCodeBytes} bytes`);
  }
  return {
    from: optional(fields.get('from'), readAddress, 'from'),
    to,
    data,
    valueWei: optional(fields.get('value'), readBigQuantity, 'value'),
    gas: optional(fields.get('gas'), readGas, 'gas'),
    gasPriceWei: readPrice(fields),
    accessList: optional(fields.get('accessList'), readAccessList, 'accessList'),
  };
}

function requireSupported(fields: Map<string, unknown>, chainId: number): void {
  const given = optional(fields.get('chainId'), readBigQuantity, 'chainId');
  if (given !== undefined && given !== BigInt(chainId)) throw invalid(`chainId must be ${chainId}`);
  for (const name of ['authorizationList', 'blobVersionedHashes', 'blobs', 'maxFeePerBlobGas']) {
    const isEmpty = Array.isArray(fields.get(name)) && (fields.get(name) as unknown[]).length === 0;
    if (!isAbsent(fields.get(name)) && !isEmpty) throw invalid(`calls with ${name} are not supported`);
  }
  // They have no effect on a call.
  optional(fields.get('nonce'), readBigQuantity, 'nonce');
  optional(fields.get('type'), readBigQuantity, 'type');
}

/** Both names are in use. */
function readInput(fields: Map<string, unknown>): Hex | undefined {
  const input = optional(fields.get('input'), readData, 'input');
  const data = optional(fields.get('data'), readData, 'data');
  if (input !== undefined && data !== undefined && input !== data) {
    throw invalid('data and input are both given, and differ');
  }
  return input ?? data;
}

/** The engine has a bound of its own, far below. */
function readGas(value: unknown, name: string): number {
  const gas = readBigQuantity(value, name);
  return Number(gas < mostGasGiven ? gas : mostGasGiven);
}

/** The most that a unit of gas may cost; undefined or 0 makes the call free. */
function readPrice(fields: Map<string, unknown>): bigint | undefined {
  const price = optional(fields.get('gasPrice'), readBigQuantity, 'gasPrice');
  const maxFee = optional(fields.get('maxFeePerGas'), readBigQuantity, 'maxFeePerGas');
  const tip = optional(fields.get('maxPriorityFeePerGas'), readBigQuantity, 'maxPriorityFeePerGas');
  if (price !== undefined && (maxFee !== undefined || tip !== undefined)) {
    throw invalid('both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified');
  }
  if (tip !== undefined && maxFee !== undefined && maxFee !== 0n && tip > maxFee) {
    throw failed('max priority fee per gas higher than max fee per gas');
  }
  return price ?? maxFee;
}

function readAccessList(value: unknown, name: string): NonNullable<CallRequest['accessList']> {
  return readList(value, name, mostAccessEntries).map((entry) => {
    const fields = readFields(entry, `an entry of ${name}`);
    const keys = readList(fields.get('storageKeys') ?? [], 'storageKeys', mostAccessEntries);
    return {
      address: readAddress(fields.get('address'), `an address of ${name}`),
      storageKeys: keys.map((key) => readHash(key, `a storage key of ${name}`)),
    };
  });
}
