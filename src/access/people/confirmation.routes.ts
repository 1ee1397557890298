/** /auth/confirm/password: a person proves once more, in their session, who they are. Codes confirm at verify-totp. */
import { Type } from 'typebox';
import type { Db } from '../../db/database.ts';
import { requireSameOrigin } from '../../http/admission/same-origin.ts';
import type { Api } from '../../http/api/api.ts';
import { AppError } from '../../runtime/errors.ts';
import { leftToProvider } from '../accounts/signs-in-here.ts';
import { passwordLength } from './password.ts';
import { type SignIn, signInBase } from './sign-in.ts';
import { confirmSession, isPasswordOf } from './sign-in-effects.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';

export interface ConfirmationRoutesDeps {
  db: Db;
  signIn: Pick<SignIn, 'find'>;
  signInThrottle: SignInThrottle;
  publicUrl(): string;
}

export function confirmationRoutes(app: Api, deps: ConfirmationRoutesDeps): void {
  const { db, signIn, signInThrottle, publicUrl } = deps;
  app.post(
    `${signInBase}/confirm/password`,
    {
      config: { secretAnswer: true },
      schema: {
        hide: true,
        body: Type.Object(
          { password: Type.String({ minLength: 1, maxLength: passwordLength.max }) },
          { additionalProperties: false },
        ),
      },
      onRequest: async (request) => requireSameOrigin(request, publicUrl()),
    },
    async (request) => {
      const session = await signIn.find(request.headers.cookie ?? '');
      if (!session) throw new AppError('unauthorized', 'Your session has ended. Sign in again.');
      if (!session.signsInHere) throw leftToProvider();
      if (session.hasFactor) {
        // Otherwise a password and a cookie would be enough, although the person has set up more.
        throw new AppError(
          'forbidden',
          'Confirm with a two-factor code or a passkey, not with the password.',
        );
      }
      const guess = { of: { userId: session.userId }, address: request.ip };
      await signInThrottle.begin(guess);
      if (!(await isPasswordOf(db, session.userId, request.body.password))) {
        request.log.warn({ requestId: request.id, address: request.ip }, 'confirmation refused');
        throw new AppError('invalid_request', 'The password is wrong.');
      }
      await confirmSession(db, session, { by: 'password', requestId: request.id });
      await signInThrottle.succeeded(guess);
      return { confirmed: true };
    },
  );
}
