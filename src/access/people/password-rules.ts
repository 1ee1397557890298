/** Which passwords people may choose: not guessed first, not about themselves, and not leaked. */
import { AppError } from '../../runtime/errors.ts';
import { isCommonPassword } from './common-passwords.ts';
import { type LeakedPasswords, openLeakedPasswords } from './leaked-passwords.ts';
import { type PasswordOwner, refuseWeakPassword } from './weak-password.ts';

export interface PasswordRules {
  /** Throws invalid_request or password_leaked, with advice. */
  require(password: string, owner: PasswordOwner): Promise<void>;
}

/** `leakedPasswords`: the path of a list; null: only the short list that is built in. */
export function createPasswordRules({ leakedPasswords }: { leakedPasswords: string | null }): PasswordRules {
  const leaked: LeakedPasswords | null =
    leakedPasswords === null ? null : openLeakedPasswords(leakedPasswords);
  return {
    async require(password, owner) {
      refuseWeakPassword(password, owner);
      if (isCommonPassword(password) || (await leaked?.has(password))) {
        throw new AppError(
          'password_leaked',
          'This password was published in a data breach, so attackers try it first. Choose another one, and change it wherever else you use it.',
        );
      }
    },
  };
}
