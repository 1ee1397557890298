/** Other people's verifiers of timestamp tokens: openssl, pkijs, and rfc3161ng of Debian. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Certificate, ContentInfo, SignedData } from 'pkijs';
import { pathOf } from '../programs/needs.ts';
import type { Bytes } from './der-writer.ts';
import { pem } from './test-authority.ts';

const run = promisify(execFile);

export interface Asked {
  token: Bytes;
  /** What was stamped, not its hash. */
  data: Bytes;
  /** In DER. */
  root: Bytes;
  /** Certificates that the token lacks. */
  untrusted?: Bytes[];
  /** The time of judgement, in milliseconds. */
  at: number;
}

/** Null when `openssl ts -verify` accepts the token, or what it says. */
export function askOpenssl(asked: Asked): Promise<string | null> {
  return openssl(asked, ['ts', '-verify', '-token_in', '-in', 'token', '-data', 'data'], '-untrusted');
}

/** The same by `openssl cms`, which looks only at signature and path, but knows RSA-PSS. */
export function askOpensslCms(asked: Asked): Promise<string | null> {
  const token = ['-inform', 'DER', '-in', 'token', '-binary', '-out', 'content'];
  return openssl(asked, ['cms', '-verify', '-purpose', 'timestampsign', ...token], '-certfile');
}

async function openssl(
  { token, data, root, untrusted = [], at }: Asked,
  args: string[],
  forMore: string,
): Promise<string | null> {
  return inDirectory(
    { token, data, root: pem(root), more: untrusted.map(pem).join('') },
    async (directory) => {
      const more = untrusted.length > 0 ? [forMore, 'more'] : [];
      const given = ['-CAfile', 'root', '-attime', String(Math.floor(at / 1000)), ...more];
      return failureOf(run(pathOf('openssl'), [...args, ...given], { cwd: directory }));
    },
  );
}

/** Null when pkijs accepts the token and finds its path, or what it says. */
export async function askPkijs({ token, data, root, untrusted = [], at }: Asked): Promise<string | null> {
  try {
    const signed = new SignedData({ schema: ContentInfo.fromBER(token).content });
    const beside = untrusted.map((certificate) => Certificate.fromBER(certificate));
    signed.certificates = [...(signed.certificates ?? []), ...beside];
    const result = await signed.verify({
      ...{ signer: 0, checkChain: true, extendedMode: true, checkDate: new Date(at) },
      ...{ data: data.slice().buffer, trustedCerts: [Certificate.fromBER(root)] },
    });
    return result.signatureVerified === true ? null : result.message;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Null when rfc3161ng accepts the token by its first certificate, or what it says. It knows only RSA, and no paths. */
export async function askRfc3161ng({ token, data }: Pick<Asked, 'token' | 'data'>): Promise<string | null> {
  const program = [
    'import rfc3161ng',
    'read = lambda name: open(name, "rb").read()',
    'assert rfc3161ng.check_timestamp(read("token"), certificate=b"", data=read("data"), hashname="sha256") is True',
  ].join('\n');
  return inDirectory({ token, data }, (directory) =>
    failureOf(run(pathOf('python3-rfc3161ng'), ['-c', program], { cwd: directory })),
  );
}

async function inDirectory<Value>(
  files: Record<string, Bytes | string>,
  work: (directory: string) => Promise<Value>,
): Promise<Value> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-oracle-'));
  try {
    await Promise.all(
      Object.entries(files).map(([name, content]) => writeFile(join(directory, name), content)),
    );
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function failureOf(running: Promise<{ stdout: string; stderr: string }>): Promise<string | null> {
  try {
    await running;
    return null;
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? ''}` || message;
  }
}
