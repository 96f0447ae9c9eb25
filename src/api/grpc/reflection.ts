// Reflection, v1 and v1alpha: its files are indexed when somebody first asks, as most gateways are never asked.
import type { Server } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { withDescribedFiles } from './described-files.ts';

type AddService = Server['addService'];
type Definition = Parameters<AddService>[0];
type Implementation = Parameters<AddService>[1];

const METHOD = 'ServerReflectionInfo';

export function addReflection(addService: AddService, described: PackageDefinition): void {
  const files = withDescribedFiles(described);
  let indexed: readonly Service[] | undefined;
  // One that describes nothing has the same services.
  for (const [index, { definition }] of servicesOf({}).entries()) {
    const handler = (call: unknown) => {
      indexed ??= servicesOf(files);
      const service = indexed[index] as Service;
      (service.implementation[METHOD] as (call: unknown) => void)(call);
    };
    addService(definition, { [METHOD]: handler });
  }
}

interface Service {
  readonly definition: Definition;
  readonly implementation: Implementation;
}

function servicesOf(described: PackageDefinition): readonly Service[] {
  const services: Service[] = [];
  new ReflectionService(described).addToServer({
    addService: (definition, implementation) => void services.push({ definition, implementation }),
  });
  return services;
}
