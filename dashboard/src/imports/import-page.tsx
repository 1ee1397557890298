/** Brings in records from a file, or files from a folder: checked first, with progress, and continued after any interruption. */
import { Box, Stack } from '@mantine/core';
import { useState } from 'react';
import { PageHead } from '../frame/page-head.tsx';
import { EarlierImports } from './earlier-imports.tsx';
import { ImportForm } from './import-form.tsx';
import { closeImport, isAnyIn, useRun } from './run.ts';
import { RunPanel } from './run-panel.tsx';

export function ImportPage() {
  const run = useRun();
  const [formNumber, setFormNumber] = useState(0);
  // During an import nothing else can be chosen, but it is still there when nothing went in.
  const isImport = run !== null && !run.job.dryRun;
  const next = () => {
    if (run !== null && isAnyIn(run)) setFormNumber(formNumber + 1);
    closeImport();
  };
  return (
    <>
      <PageHead
        title="Import"
        about="Brings in many records from one file, or the files of a folder. An import that is interrupted goes on when you choose the same file again."
      />
      <Stack gap="lg">
        <Box hidden={isImport}>
          <ImportForm key={formNumber} />
        </Box>
        {run && <RunPanel run={run} next={next} />}
        <EarlierImports />
      </Stack>
    </>
  );
}
