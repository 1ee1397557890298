/** `holdfast users`: help for people who cannot sign in. */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { OperatorError } from '../runtime/errors.ts';
import { print, withStore } from './command.ts';

export function addUsersCommand(program: Command): void {
  program
    .command('users')
    .description('people who sign in to the dashboard')
    .command('reset-password')
    .argument('<email>')
    .description('give someone a new password, print it once, and end all of their sessions')
    .option(
      '--disable-two-factor',
      'also turn off two-factor codes and remove all passkeys, for a lost device or an account that somebody else had',
    )
    .option('--json', 'print JSON')
    .action((email: string, options: { disableTwoFactor?: boolean; json?: boolean }) =>
      withStore(async ({ store, config }) => {
        const { resetPassword } = await import('../access/people/reset-password.ts');
        const password = randomBytes(12).toString('base64url');
        const user = await resetPassword(store.database.db, {
          email,
          password,
          disableTwoFactor: options.disableTwoFactor ?? false,
          issuer: config.signIn.provider?.issuer ?? null,
        });
        if (!user) throw new OperatorError(`There is nobody with the email ${email}.`);
        print(
          options,
          { email: user.email, password, passkeys: user.passkeys },
          [
            `The new password of ${user.email} is`,
            '',
            `  ${password}`,
            '',
            'All sessions have ended. Change the password after signing in, under Settings.',
            ...(user.passkeys === 0
              ? []
              : [`Passkeys that still sign in: ${user.passkeys}. --disable-two-factor removes them.`]),
          ].join('\n'),
        );
      }),
    );
}
