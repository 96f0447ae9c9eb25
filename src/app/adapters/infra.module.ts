// InfraModule: settings and ports, for the modules above.
import { Module, type DynamicModule } from '@nestjs/common';
import type { Settings } from '../../settings/settings-schema.ts';
import type { Infra } from './create-ports.ts';

export const SETTINGS = Symbol('Settings');
export const INFRA = Symbol('Infra');

@Module({})
export class InfraModule {
  static register(settings: Settings, infra: Infra): DynamicModule {
    return {
      module: InfraModule,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: INFRA, useValue: infra },
      ],
      exports: [SETTINGS, INFRA],
    };
  }
}
