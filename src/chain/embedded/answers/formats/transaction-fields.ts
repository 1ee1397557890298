/**
 * Decodes signed transactions. Lenient, because a block may contain whatever the chain accepts, such as authorizations
 * that mean nothing: it only takes the bytes apart.
 */
import { fromRlp, type Hex } from 'viem';

export interface Authorization {
  chainId: bigint;
  address: Hex;
  nonce: bigint;
  yParity: bigint;
  r: bigint;
  s: bigint;
}

export interface TransactionFields {
  type: 0 | 1 | 2 | 4;
  /** Null for the oldest form, which has none. */
  chainId: bigint | null;
  nonce: bigint;
  gas: bigint;
  /** Of the types 0 and 1. */
  gasPriceWei: bigint | null;
  /** Of the types 2 and 4. */
  maxFeeWei: bigint | null;
  priorityFeeWei: bigint | null;
  /** Null for a creation. */
  to: Hex | null;
  valueWei: bigint;
  input: Hex;
  accessList: { address: Hex; storageKeys: Hex[] }[] | null;
  authorizationList: Authorization[] | null;
  v: bigint;
  r: bigint;
  s: bigint;
}

type Items = readonly (Hex | Items)[];

/** Throws if it is no transaction of these types. */
export function decodeFields(raw: Hex): TransactionFields {
  const type = Number(raw.slice(0, 4));
  // A list begins with a byte of at least 0xc0, and the type is less.
  if (type >= 0xc0) return legacy(fromRlp(raw) as Items);
  const items = fromRlp(`0x${raw.slice(4)}`) as Items;
  if (type === 1) return withAccessList(items);
  if (type === 2) return withFees(items, 2);
  if (type === 4) return withFees(items, 4);
  throw new Error(`transactions of type ${type} do not occur`);
}

function legacy(items: Items): TransactionFields {
  const [nonce, gasPrice, gas, to, value, input, v, r, s] = items;
  const sign = quantity(v);
  return {
    type: 0,
    // EIP-155.
    chainId: sign >= 35n ? (sign - 35n) / 2n : null,
    ...{ nonce: quantity(nonce), gas: quantity(gas) },
    ...{ gasPriceWei: quantity(gasPrice), maxFeeWei: null, priorityFeeWei: null },
    ...{ to: receiver(to), valueWei: quantity(value), input: text(input) },
    ...{ accessList: null, authorizationList: null },
    ...{ v: sign, r: quantity(r), s: quantity(s) },
  };
}

function withAccessList(items: Items): TransactionFields {
  const [chainId, nonce, gasPrice, gas, to, value, input, accessList, v, r, s] = items;
  return {
    type: 1,
    ...{ chainId: quantity(chainId), nonce: quantity(nonce), gas: quantity(gas) },
    ...{ gasPriceWei: quantity(gasPrice), maxFeeWei: null, priorityFeeWei: null },
    ...{ to: receiver(to), valueWei: quantity(value), input: text(input) },
    ...{ accessList: accesses(accessList), authorizationList: null },
    ...{ v: quantity(v), r: quantity(r), s: quantity(s) },
  };
}

/** Type 4 has one item more, before the signature. */
function withFees(items: Items, type: 2 | 4): TransactionFields {
  const [chainId, nonce, priorityFee, maxFee, gas, to, value, input, accessList, ...rest] = items;
  const [v, r, s] = type === 4 ? rest.slice(1) : rest;
  return {
    type,
    ...{ chainId: quantity(chainId), nonce: quantity(nonce), gas: quantity(gas) },
    ...{ gasPriceWei: null, maxFeeWei: quantity(maxFee), priorityFeeWei: quantity(priorityFee) },
    ...{ to: receiver(to), valueWei: quantity(value), input: text(input) },
    accessList: accesses(accessList),
    authorizationList: type === 4 ? list(rest[0]).map(authorization) : null,
    ...{ v: quantity(v), r: quantity(r), s: quantity(s) },
  };
}

function accesses(item: Item): TransactionFields['accessList'] {
  return list(item).map((entry) => {
    const [address, keys] = list(entry);
    return { address: text(address), storageKeys: list(keys).map(text) };
  });
}

function authorization(item: Item): Authorization {
  const [chainId, address, nonce, yParity, r, s] = list(item);
  return {
    ...{ chainId: quantity(chainId), address: text(address), nonce: quantity(nonce) },
    ...{ yParity: quantity(yParity), r: quantity(r), s: quantity(s) },
  };
}

type Item = Items[number] | undefined;

function text(item: Item): Hex {
  if (typeof item !== 'string') throw new Error('the transaction has a list, or nothing, in place of bytes');
  return item;
}

function list(item: Item): Items {
  if (!Array.isArray(item)) throw new Error('the transaction has bytes, or nothing, in place of a list');
  return item;
}

function quantity(item: Item): bigint {
  const bytes = text(item);
  return bytes === '0x' ? 0n : BigInt(bytes);
}

function receiver(item: Item): Hex | null {
  const bytes = text(item);
  return bytes === '0x' ? null : bytes;
}
