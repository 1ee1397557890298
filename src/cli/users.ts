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
    .option('--disable-two-factor', 'also turn off two-factor codes, for a lost device')
    .option('--json', 'print JSON')
    .action((email: string, options: { disableTwoFactor?: boolean; json?: boolean }) =>
      withStore(async ({ store }) => {
        const { resetPassword } = await import('../access/people/reset-password.ts');
        const password = randomBytes(12).toString('base64url');
        const user = await resetPassword(store.database.db, {
          email,
          password,
          disableTwoFactor: options.disableTwoFactor ?? false,
        });
        if (!user) throw new OperatorError(`There is nobody with the email ${email}.`);
        print(
          options,
          { email: user.email, password },
          [
            `The new password of ${user.email} is`,
            '',
            `  ${password}`,
            '',
            'All sessions have ended. Change the password after signing in, under Settings.',
          ].join('\n'),
        );
      }),
    );
}
