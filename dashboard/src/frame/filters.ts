/** Filters of a list, kept in the URL, so that a link shows the same list. */
import { useNavigate, useSearch } from '@tanstack/react-router';

export type Filters = Record<string, string | undefined>;

/** The values in the URL by name, and a function that changes one; an empty value removes it. */
export function useFilters<Name extends string>(
  ...names: Name[]
): [filters: Partial<Record<Name, string>>, set: (name: Name, value: string | null) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const given = names.flatMap((name) => {
    const value = search[name];
    return value === undefined || value === '' ? [] : [[name, String(value)]];
  });
  return [
    Object.fromEntries(given),
    (name, value) =>
      void navigate({
        to: '.',
        search: ((before: Record<string, unknown>) => ({ ...before, [name]: value || undefined })) as never,
        replace: true,
      }),
  ];
}
