/** A link for a phone, shown once: as a QR code to scan, and as text to send. */
import { Button, Center, Group, Modal, Stack } from '@mantine/core';
import { QrCode } from './qr-code.tsx';
import { SecretOnce } from './secret.tsx';

export interface LinkOnceProps {
  title: string;
  /** What the link is. */
  label: string;
  link: string;
  about: string;
  close(): void;
}

export function LinkOnce({ title, label, link, about, close }: LinkOnceProps) {
  return (
    <Modal opened onClose={close} title={title} centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        <Center>
          <QrCode text={link} label={`QR code: ${label}`} />
        </Center>
        <SecretOnce label={label} value={link} about={about} />
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
