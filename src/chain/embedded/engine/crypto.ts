/** Keccak-256 and the recovery of signers in WebAssembly: together they were half of the engine's time in JavaScript. */
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';
import type { CustomCrypto } from '@ethereumjs/common';
import { calculateSigRecovery, concatBytes, setLengthLeft } from '@ethereumjs/util';
import { createKeccak } from 'hash-wasm';

export async function loadCrypto(): Promise<CustomCrypto> {
  const hasher = await createKeccak(256);
  const secp256k1 = await instantiateSecp256k1();
  return {
    keccak256: (bytes) => hasher.init().update(bytes).digest('binary'),
    ecrecover(hash, v, r, s, chainId) {
      const recovery = calculateSigRecovery(v, chainId);
      if (recovery !== 0n && recovery !== 1n) throw new Error('Invalid signature v value');
      const signature = concatBytes(setLengthLeft(r, 32), setLengthLeft(s, 32));
      const key = secp256k1.recoverPublicKeyUncompressed(signature, recovery === 0n ? 0 : 1, hash);
      if (typeof key === 'string') throw new Error('Invalid signature');
      return key.slice(1);
    },
  };
}
