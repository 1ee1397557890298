/**
 * Addresses in the form of GS1 Digital Link, below the workspace whose page it is, as nobody here knows whose numbers they are:
 * /gs1/{workspace}/01/{GTIN}/21/{serial number}, or /gs1/{workspace}/8004/{GIAI}. Numbers with a wrong check digit or characters
 * outside GS1's set 82 are no such addresses.
 */
import { AppError } from '../../runtime/errors.ts';

export interface GivenLink {
  gtin?: string | undefined;
  serial?: string | undefined;
  giai?: string | undefined;
}

/** The end of the path, characters as they are. Throws invalid_request. */
export function readDigitalLink({ gtin, serial, giai }: GivenLink): string {
  if (giai === undefined ? gtin === undefined || serial === undefined : (gtin ?? serial) !== undefined) {
    throw new AppError('invalid_request', 'digitalLink must have gtin and serial, or giai alone.');
  }
  if (giai !== undefined) {
    if (isText(giai, 30)) return `8004/${giai}`;
    throw new AppError('invalid_request', `digitalLink.giai must be 1 to 30 characters of ${characters}.`);
  }
  const whole = wholeGtin(gtin ?? '');
  if (whole === null) {
    throw new AppError(
      'invalid_request',
      'digitalLink.gtin must be 8, 12, 13 or 14 digits, the last of which is the right check digit.',
    );
  }
  if (isText(serial ?? '', 20)) return `01/${whole}/21/${serial}`;
  throw new AppError('invalid_request', `digitalLink.serial must be 1 to 20 characters of ${characters}.`);
}

/** For a request; null if no page can have this address. */
export function findDigitalLink(given: GivenLink): string | null {
  try {
    return readDigitalLink(given);
  } catch {
    return null;
  }
}

/** What is compared: the same numbers in another workspace are another address. */
export function linkIn(workspaceId: string, link: string): string {
  return `${workspaceId}/${link}`;
}

/** The path in a URL, with its first slash. */
export function pathOfLink(linkInWorkspace: string): string {
  const [workspaceId = '', first = '', key = '', ...rest] = linkInWorkspace.split('/');
  const below = `/gs1/${encodeURIComponent(workspaceId)}`;
  if (first === '8004') return `${below}/8004/${encodeURIComponent([key, ...rest].join('/'))}`;
  return `${below}/01/${key}/21/${encodeURIComponent(rest.slice(1).join('/'))}`;
}

const characters = "GS1's set 82: letters, digits and ! \" % & ' ( ) * + , - . / : ; < = > ? _";

/** Dots alone would be taken for a step in the path. */
function isText(text: string, most: number): boolean {
  if (text === '.' || text === '..') return false;
  return text.length <= most && /^[!"%&'()*+,\-./0-9:;<=>?A-Z_a-z]+$/.test(text);
}

/** As 14 digits; null if it is no GTIN. */
function wholeGtin(gtin: string): string | null {
  if (!/^(\d{8}|\d{12,14})$/.test(gtin)) return null;
  const whole = gtin.padStart(14, '0');
  const sum = [...whole].reduce((sum, digit, place) => sum + Number(digit) * (place % 2 === 0 ? 3 : 1), 0);
  return sum % 10 === 0 ? whole : null;
}
