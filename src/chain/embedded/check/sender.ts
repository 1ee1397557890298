/** Recovers the sender of a transaction from its signature. Lenient, because a block has whatever the chain accepts. */
import { concat, fromRlp, type Hex, keccak256, numberToHex, recoverAddress, toRlp } from 'viem';
import { decodeFields, type TransactionFields } from '../answers/formats/transaction-fields.ts';
import { quantity, typeOf } from './header.ts';

type Items = (Hex | Items)[];

/** Null if the bytes are no transaction, or no key has made the signature. */
export async function recoverSender(raw: Hex): Promise<Hex | null> {
  try {
    const fields = decodeFields(raw);
    const [r, s] = [numberToHex(fields.r, { size: 32 }), numberToHex(fields.s, { size: 32 })];
    const signature = { r, s, yParity: Number(yParityOf(fields)) };
    return (await recoverAddress({ hash: signedHash(raw, fields), signature })).toLowerCase() as Hex;
  } catch {
    return null;
  }
}

function yParityOf({ type, chainId, v }: TransactionFields): bigint {
  if (type !== 0) return v;
  return chainId === null ? v - 27n : (v - 35n) % 2n;
}

/** Of everything but the signature, which is the last three items. */
function signedHash(raw: Hex, { chainId }: TransactionFields): Hex {
  const type = typeOf(raw);
  const items = fromRlp(type === null ? raw : `0x${raw.slice(4)}`) as Items;
  const signed = items.slice(0, -3);
  if (type !== null) return keccak256(concat([type, toRlp(signed)]));
  // EIP-155.
  if (chainId !== null) signed.push(quantity(chainId), '0x', '0x');
  return keccak256(toRlp(signed));
}
