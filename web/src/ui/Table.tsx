/** Rows of things that are alike. On a narrow page each row becomes a block, with the columns' names beside the values. */

import type { ReactNode } from "react";
import "./table.css";

export interface Column<T> {
  readonly id: string;
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** For numbers and buttons. */
  readonly end?: boolean;
  /** Its values are single words, never broken. */
  readonly brief?: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly dimmed?: (row: T) => boolean;
}

export function Table<T>({ label, columns, rows, keyOf, dimmed }: TableProps<T>) {
  return (
    <div className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className={dimmed?.(row) ? "table-dimmed" : undefined}>
              {columns.map((column) => (
                <td key={column.id} data-head={column.head} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf({ end, brief }: Pick<Column<never>, "end" | "brief">): string | undefined {
  return end ? "table-end" : brief ? "table-brief" : undefined;
}
