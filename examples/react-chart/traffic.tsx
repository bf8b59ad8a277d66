import { useEffect, useRef, useState } from 'react';
// Defines the element in a browser, and nothing on a server that renders pages.
import { KeelsonChart, type ChartAttributes } from 'keelson/chart';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'keelson-chart': ChartAttributes & React.HTMLAttributes<KeelsonChart>
        & React.RefAttributes<KeelsonChart>;
    }
  }
}

/** A live chart of the study `commute`, and how many of its releases the browser has verified. */
export function Traffic({ server, serverKey }: {
  readonly server: string; readonly serverKey: string;
}) {
  const chart = useRef<KeelsonChart>(null);
  const [verified, setVerified] = useState(0);
  useEffect(() => {
    const element = chart.current!;
    const count = (): void => setVerified(element.verified);
    element.addEventListener('keelson-release', count);
    return () => element.removeEventListener('keelson-release', count);
  }, []);
  return (
    <figure>
      <keelson-chart ref={chart} server={server} study="commute" server-key={serverKey} last={30} />
      <figcaption>{verified} answers verified in this browser</figcaption>
    </figure>
  );
}
