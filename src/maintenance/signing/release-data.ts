/** The members of an entry's `data` that its release certificate shows in their own places. Pure, and safe in browsers. */
import { hasDirectionMark } from '../../runtime/visible-text.ts';

/** A maintenance manual, an airworthiness directive or the like, by which the work was done. */
export interface ApprovedData {
  reference: string;
  /** As of which issue; empty: none given. */
  revision: string;
}

/** How a component or an aircraft is released. */
export interface ReleaseData {
  as: ReleasedAs;
  /** Of a component: what most of the work was. */
  work?: ComponentWork;
  remarks?: string;
}

export type ReleasedAs = 'component' | 'aircraft';
export type ComponentWork = (typeof componentWork)[number];

/** What block 11 of an EASA Form 1 may say. */
export const componentWork = ['overhauled', 'repaired', 'inspected', 'tested', 'modified'] as const;

/** As stated; a member that is not of this form counts as not stated. */
export interface StatedRelease {
  approvedData: ApprovedData[];
  workOrder: string;
  release: ReleaseData | null;
}

export const mostApprovedData = 20;
const longest = { reference: 200, remarks: 2_000 };

/** Returns an error message if one of them is invalid. */
export function releaseDataFault(data: Record<string, unknown>): string | null {
  if (Object.hasOwn(data, 'approvedData') && readApprovedData(data.approvedData) === null) {
    return `data.approvedData must be {reference, revision} or a list of up to ${mostApprovedData} of them, each a text of up to ${longest.reference} characters; revision may be left out.`;
  }
  if (Object.hasOwn(data, 'workOrder') && !isText(data.workOrder, longest.reference)) {
    return `data.workOrder must be a text of up to ${longest.reference} characters.`;
  }
  if (Object.hasOwn(data, 'release') && readRelease(data.release) === null) {
    return `data.release must be {"as": "component", "work", "remarks"} with work one of ${componentWork.join(', ')}, or {"as": "aircraft", "remarks"}; remarks, up to ${longest.remarks} characters, may be left out.`;
  }
  return null;
}

export function statedRelease(data: Record<string, unknown>): StatedRelease {
  return {
    approvedData: readApprovedData(data.approvedData) ?? [],
    workOrder: isText(data.workOrder, longest.reference) ? data.workOrder : '',
    release: readRelease(data.release),
  };
}

/** Null if it is not of the form. */
function readApprovedData(value: unknown): ApprovedData[] | null {
  const given = Array.isArray(value) ? value : [value];
  if (given.length > mostApprovedData) return null;
  const read = given.map((one): ApprovedData | null => {
    if (!isObjectOf(one, ['reference', 'revision'])) return null;
    const { reference, revision = '' } = one;
    if (!isText(reference, longest.reference)) return null;
    return revision === '' || isText(revision, longest.reference) ? { reference, revision } : null;
  });
  return read.includes(null) ? null : (read as ApprovedData[]);
}

function readRelease(value: unknown): ReleaseData | null {
  if (!isObjectOf(value, ['as', 'work', 'remarks'])) return null;
  const { as, work, remarks } = value;
  if (remarks !== undefined && !isText(remarks, longest.remarks)) return null;
  const said = remarks === undefined ? {} : { remarks };
  if (as === 'aircraft' && work === undefined) return { as, ...said };
  const done = componentWork.find((one) => one === work);
  return as === 'component' && done ? { as, work: done, ...said } : null;
}

function isObjectOf(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).every((name) => names.includes(name));
}

/** With something in it, and nothing that makes it look like another text. */
function isText(value: unknown, length: number): value is string {
  return (
    typeof value === 'string' && value.trim() !== '' && value.length <= length && !hasDirectionMark(value)
  );
}
