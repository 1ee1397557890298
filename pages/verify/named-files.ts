/**
 * The proof and the content that a link names in its fragment: `#proof=/a/…/proof.json&content=/a/…/document.json`. Only files of
 * published pages of this service are fetched, without a session.
 */

const published = /^\/(a|01|8004)\//;

/** Null if the fragment names none. Throws an error for people. */
export async function readNamedFiles(
  fragment: string,
): Promise<{ proof: File; content: File | null } | null> {
  const named = new URLSearchParams(fragment.slice(1));
  const [proof, content] = [named.get('proof'), named.get('content')];
  if (proof === null) return null;
  return {
    proof: await fetchFile(proof),
    content: content === null ? null : await fetchFile(content),
  };
}

async function fetchFile(path: string): Promise<File> {
  const { origin, pathname } = new URL(path, location.origin);
  if (origin !== location.origin || !published.test(pathname)) {
    throw new Error('The link names a file that is not on a published page of this service.');
  }
  const answer = await fetch(pathname, { credentials: 'omit', cache: 'no-store' }).catch(() => null);
  if (!answer?.ok) {
    throw new Error(
      'The proof that this link names could not be loaded. Its page may no longer be published: choose a copy of the proof.',
    );
  }
  return new File([await answer.arrayBuffer()], pathname.split('/').at(-1) ?? 'proof.json');
}
