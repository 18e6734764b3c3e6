/** Whether an element is in sight, or was a short while ago. */

import { type RefObject, useEffect, useState } from "react";

export function useInSight(element: RefObject<Element | null>, lingerMs: number): boolean {
  const [inSight, setInSight] = useState(false);
  useEffect(() => {
    let timer: number | undefined;
    const observer = new IntersectionObserver((entries) => {
      window.clearTimeout(timer);
      if (entries.some((entry) => entry.isIntersecting)) setInSight(true);
      else timer = window.setTimeout(() => setInSight(false), lingerMs);
    });
    if (element.current) observer.observe(element.current);
    return () => {
      window.clearTimeout(timer);
      observer.disconnect();
    };
  }, [element, lingerMs]);
  return inSight;
}
