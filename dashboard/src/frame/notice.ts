/** Short notices at the edge of the page: that something was done, or why it failed. */
import { notifications } from '@mantine/notifications';

const closeButtonProps = { 'aria-label': 'Close' };

export function showDone(message: string): void {
  notifications.show({ message, color: 'sea', withBorder: true, closeButtonProps });
}

export function showFailure(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({
    title: 'That did not work',
    message,
    color: 'red',
    autoClose: 10_000,
    withBorder: true,
    closeButtonProps,
  });
}
